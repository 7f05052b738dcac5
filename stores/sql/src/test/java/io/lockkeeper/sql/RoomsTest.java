// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The packages of this module: which may use which, and what users see. */
class RoomsTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .importUrl(SqlStore.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void theFileKnowsNothingOfLocks() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.sql.file")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lockkeeper.sql", "io.lockkeeper.spi", "io.lockkeeper.model")
                .check(MAIN);
    }

    @Test
    void whatIsSharedDependsOnNothing() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.sql.base")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lockkeeper", "io.lockkeeper.spi", "io.lockkeeper.sql", "io.lockkeeper.sql.file")
                .check(MAIN);
    }

    @Test
    void usersSeeAFewClasses() {
        assertThat(MAIN.stream()
                        .filter(c -> c.getPackageName().equals("io.lockkeeper.sql"))
                        .filter(c -> c.isTopLevelClass() && c.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName))
                .containsExactlyInAnyOrder(
                        "FileProvider", "JdbcFence", "SqlLocks", "SqlOptions", "SqlProvider", "SqlStore");
    }
}
