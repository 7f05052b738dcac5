// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.SecretSearch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No secret of a {@code jdbc:} or {@code file:} URL is shown, whatever is wrong with it: in no exception, no text of an object, and
 * nothing that we, the driver or the pool log at any level.
 */
class JdbcSecretsTest { // H78
    /** Nothing listens there. */
    private static final String HOST = "127.0.0.1:1";

    /** What may stand between the scheme and the database. */
    private static final List<String> AUTHORITIES = List.of(
            "//user:hunter2@" + HOST,
            "//user:hunter2@127.0.0.1",
            "//:hunter2@" + HOST,
            "//hunter2@" + HOST,
            "//user:hunter%32@" + HOST,
            "//user:x/hunter2@" + HOST,
            "//user:x@hunter2@" + HOST,
            "//user:hunter2%zz@" + HOST,
            "//user:hunter2@127.0.0.1:port",
            "//127.0.0.1:hunter2",
            "//user:hunter2@[::1:1",
            "//user:hunter2@" + HOST + ",user:hunter2@127.0.0.1:2",
            "//" + HOST + ",user:hunter2@127.0.0.1:2",
            "//address=(host=127.0.0.1)(port=1)(user=me)(password=hunter2)",
            "//(host=127.0.0.1,port=1,user=me,password=hunter2)",
            "//user:hunter2@(host=127.0.0.1,port=1)",
            "user:hunter2@" + HOST,
            "/user:hunter2@" + HOST);

    /** What may follow the database. */
    private static final List<String> PARAMETERS = List.of(
            "user=me&password=hunter2",
            "password=hunter2",
            "user=me&password=hunter%32",
            "user=me&password=hunter2&password=hunter2",
            "user=me&PASSWORD=hunter2",
            "user=me&Password=hunter2&unknown=1",
            "user=me&password=hunter2&lockkeper.schema=x",
            "password=hunter2%25%26",
            "password=hunter2%",
            "password=hunter2%zz",
            "password=hunter2&x",
            "password=x&hunter2@y=z",
            "user=me&password=hunter2&operationTimeout=soon",
            "user=me&password=hunter2&lockkeeper.createTables=hm",
            "user=me&pwd=hunter2",
            "user=me&sslpassword=hunter2&trustStorePassword=hunter2",
            "user=me&keyStorePassword=hunter2&keyPassword=hunter2&password=hunter2",
            "user=me&trustCertificateKeyStorePassword=hunter2&clientCertificateKeyStorePassword=hunter2");

    @TempDir
    Path folder;

    /** Right ones and wrong ones; {@code %} stands before a character in hexadecimal. */
    private static List<String> urls(String scheme) {
        List<String> urls = new ArrayList<>();
        for (String authority : AUTHORITIES) {
            urls.add(scheme + ":" + authority + "/db");
        }
        urls.add(scheme + "://user:hunter2?x@" + HOST + "/db");
        urls.add(scheme + "://user:x?hunter2@" + HOST + "/db");
        urls.add(scheme + "://user:hunter2@" + HOST);
        urls.add(scheme + "://" + HOST + "/db;password=hunter2");
        urls.add(scheme + "://" + HOST + "/db;user=me;PASSWORD=hunter2?x=1");
        for (String parameters : PARAMETERS) {
            urls.add(scheme + "://" + HOST + "/db?" + parameters);
        }
        urls.add(scheme + "://127.0.0.1:99999/db?password=hunter2");
        urls.add(scheme + "://127.0.0.1:port/db?password=hunter2");
        return urls;
    }

    private static void assertNothingIsFound(List<String> urls) {
        assertThat(urls).hasSizeGreaterThanOrEqualTo(30);
        List<String> found = new ArrayList<>();
        for (String url : urls) {
            try (SecretSearch search = new SecretSearch("hunter2", "hunter%32")) {
                Throwable failure = search.connect(url);
                if (failure != null
                        && !(failure instanceof IllegalArgumentException)
                        && !(failure instanceof StoreUnavailableException)) {
                    found.add(url + "\n  fails with " + failure);
                }
                search.found().forEach(each -> found.add(url + "\n  " + each));
            }
        }
        assertThat(found).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql", "nosuch", "postgresql:nosuch"})
    void ofServers(String database) {
        assertNothingIsFound(urls("jdbc:" + database));
    }

    @Test
    void ofH2() throws Exception {
        String file = "jdbc:h2:" + folder.resolve("guarded");
        DriverManager.getConnection(file, "me", "right").close();
        List<String> urls = new ArrayList<>();
        for (String place : List.of(
                "jdbc:h2:tcp://" + HOST + "/db",
                "jdbc:h2:" + folder.resolve("no/such/place") + ";IFEXISTS=TRUE",
                "jdbc:h2:tcp://me:hunter2@" + HOST + "/db")) {
            for (String login : List.of(
                    "",
                    ";USER=me;PASSWORD=hunter2",
                    ";PASSWORD=hunter2;USER=me",
                    ";user=me;password=hunter2",
                    ";PASSWORD=hunter2;PASSWORD=hunter2",
                    ";PASSWORD=hunter2\\;hunter2;USER=me",
                    ";USER=me;PASSWORD=hunter2;NO_SUCH_SETTING=1",
                    ";USER=me;PASSWORD=hunter2;CIPHER=nosuch",
                    ";USER=me;PASSWORD=hunter2;hm",
                    ";USER=me;PASSWORD=hunter2?password=hunter2",
                    "?user=me&password=hunter2",
                    "?user=me&PASSWORD=hunter%32",
                    "?user=me&password=hunter2&x",
                    "?user=me&password=hunter2&lockkeeper_schema=x")) {
                urls.add(place + login);
            }
        }
        urls.add(file + ";USER=me;PASSWORD=hunter2"); // one: H2 answers a wrong password late, and later each time
        assertNothingIsFound(urls);
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:sqlite:", "file:"})
    void ofFiles(String scheme) throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "this is not a database, but a text".repeat(50));
        List<String> urls = new ArrayList<>();
        for (Path file : List.of(folder.resolve("f.db"), folder.resolve("no/such/folder/f.db"), folder, text)) {
            for (String parameters : List.of(
                    "password=hunter2",
                    "password=hunter%32",
                    "password=hunter2&password=hunter2",
                    "password=hunter2&hexkey_mode=sse",
                    "hexkey=hunter2",
                    "password=hunter2%",
                    "password=hunter2&x",
                    "password=hunter2&operationTimeout=soon")) {
                urls.add(scheme + file + "?" + parameters);
            }
        }
        urls.add(scheme + folder.resolve("g.db") + ";password=hunter2");
        urls.add(scheme + "//user:hunter2@host/f.db");
        assertNothingIsFound(urls.stream()
                .filter(url -> !url.startsWith("file:") || !url.contains(";password"))
                .toList());
    }

    @Test
    void ofLoginsThatAServerRefusesOrAccepts() {
        String postgres = Db.POSTGRESQL.url().replaceAll("[?].*", "");
        String mariadb = Db.MARIADB.url().replaceAll("[?].*", "");
        List<String> found = new ArrayList<>();
        for (String url : List.of(
                postgres + "?user=nobody&password=hunter2",
                postgres + "?user=postgres&password=hunter2&lockkeeper.tablePrefix=" + Db.freshPrefix(),
                postgres + "?user=postgres&password=hunter%32&lockkeeper.createTables=false&lockkeeper.tablePrefix=no_",
                postgres.replaceAll("/[^/]*$", "/nosuch") + "?user=postgres&password=hunter2",
                mariadb + "?user=root&password=hunter2&sslMode=disable",
                mariadb + "?user=root&password=hunter%32",
                mariadb.replace("mariadb", "mysql") + "?user=root&password=hunter2",
                mariadb.replace("mariadb", "mysql").replace("//", "//root:hunter2@"))) {
            try (SecretSearch search = new SecretSearch("hunter2", "hunter%32")) {
                search.connect(url);
                search.found().forEach(each -> found.add(url + "\n  " + each));
                if (url.contains("user=postgres") && !url.contains("nosuch")) {
                    assertThat(search.logged("com.zaxxer.hikari"))
                            .as("the pool logs, and we hear it")
                            .isPositive();
                    assertThat(search.logged("org.postgresql"))
                            .as("so does the driver")
                            .isPositive();
                }
            }
        }
        assertThat(found).isEmpty();
    }
}
