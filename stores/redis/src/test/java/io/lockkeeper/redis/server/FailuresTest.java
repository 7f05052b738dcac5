// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.StoreUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** What an error means, also as servers before Redis 7 put it. */
class FailuresTest {
    private static final String BEFORE_7 =
            "ERR Error running script (call to f_4fd1c2e5a0b7d6a1b0d8f1a2f3e4d5c6b7a89012): @user_script:41: ";

    private static StoreUnavailableException of(String said) {
        return Failures.of(new JedisDataException(said));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OOM command not allowed when used memory > 'maxmemory'.",
                "READONLY You can't write against a read only replica.",
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
                "NOREPLICAS Not enough good replicas to write.",
                "CLUSTERDOWN Hash slot not served",
                "BUSY Redis is busy running a script."
            })
    void temporaryErrorsAreRecognisedHoweverTheyAreWrapped(String error) { // H98
        String word = error.substring(0, error.indexOf(' '));
        for (String said : new String[] {
            error,
            error + " script: 4fd1c2e5, on @user_script:41.",
            BEFORE_7 + "@user_script: 41: -" + error,
            BEFORE_7 + "@user_script: 41: " + error,
            BEFORE_7 + error,
            BEFORE_7 + "-" + error,
            "@user_script: 41: " + error,
            "@user_script: 41: -" + error
        }) {
            StoreUnavailableException failure = of(said);
            assertThat(failure.worthRepeating()).as(said).isTrue();
            assertThat(failure).hasMessageContaining(word);
            boolean another = word.equals("READONLY") || word.equals("CLUSTERDOWN");
            assertThat(Failures.isOfThisServer(new JedisDataException(said)))
                    .as(said)
                    .isEqualTo(another);
        }
    }

    @Test
    void lastingErrorsAreRecognisedHoweverTheyAreWrapped() { // H98
        for (String said : new String[] {
            "NOPERM this user has no permissions to run the 'evalsha' command",
            BEFORE_7 + "@user_script: 41: The user executing the script can't run this command or subcommand",
            "ERR The user executing the script can't run this command or subcommand script: 4fd1, on @user_script:41.",
            BEFORE_7 + "WRONGTYPE Operation against a key holding the wrong kind of value",
            BEFORE_7 + "@user_script: 41: Unknown Redis command called from Lua script"
        }) {
            assertThat(of(said).worthRepeating()).as(said).isFalse();
        }
        assertThat(of(BEFORE_7
                        + "@user_script: 41: The user executing the script can't run this command or subcommand"))
                .hasMessageContaining("docs/stores/redis.md");
    }

    @Test
    void aRecordOfAnotherFormatIsNamedHoweverItIsWrapped() {
        for (String said : new String[] {
            "ERR user_script:12: LKFORMAT 7 script: 4fd1c2e5, on @user_script:12.",
            BEFORE_7 + "user_script:12: LKFORMAT 7",
            BEFORE_7 + "@user_script:12: LKFORMAT 7"
        }) {
            assertThat(of(said).worthRepeating()).isFalse();
            assertThat(of(said)).hasMessageContaining("format 7").hasMessageContaining("newer");
        }
    }
}
