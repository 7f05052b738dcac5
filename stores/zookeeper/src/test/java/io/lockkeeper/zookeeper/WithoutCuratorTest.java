// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A class path that has this module, but not Curator. */
class WithoutCuratorTest {
    private static final String MISSING = ".*[/\\\\](curator|zookeeper)-[a-z0-9.-]+\\.jar";

    /** Loads everything again, from the class path without what is missing. */
    private static URLClassLoader without() throws Exception {
        List<URL> path = new ArrayList<>();
        boolean found = false;
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (entry.matches(MISSING)) {
                found = true;
            } else {
                path.add(Path.of(entry).toUri().toURL());
            }
        }
        assertThat(found).isTrue();
        return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static AutoCloseable connect(ClassLoader loader, String url) throws Throwable {
        try {
            return (AutoCloseable) loader.loadClass("io.lockkeeper.Lockkeeper")
                    .getMethod("connect", String.class)
                    .invoke(null, url);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Test
    void theMessageNamesTheMissingClient() throws Throwable {
        try (URLClassLoader loader = without()) {
            for (String url : List.of("zookeeper://h")) {
                assertThatThrownBy(() -> connect(loader, url))
                        .as(url)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("org.apache.curator:curator-framework");
            }
        }
    }

    @Test
    void otherStoresStillWork() throws Throwable {
        try (URLClassLoader loader = without();
                AutoCloseable keeper = connect(loader, "memory:")) {
            assertThat(keeper).isNotNull();
        }
    }
}
