// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rooms of the house: who may know whom, and what the world may see. */
final class ArchitectureTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .importUrl(Lockkeeper.class.getProtectionDomain().getCodeSource().getLocation());

    private static Stream<JavaClass> topLevelIn(String packageName) {
        return MAIN.stream()
                .filter(c -> c.getPackageName().equals(packageName))
                .filter(c -> !c.getName().contains("$") && !c.getSimpleName().equals("package-info"));
    }

    private static Set<String> publicIn(String packageName) {
        return topLevelIn(packageName)
                .filter(c -> c.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getSimpleName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theApiIsWhatTheDesignSays() {
        assertThat(publicIn("io.lockkeeper"))
                .containsExactlyInAnyOrder(
                        "Lockkeeper",
                        "DistributedLock",
                        "Lease",
                        "LeaseFunction",
                        "DistributedReadWriteLock",
                        "DistributedSemaphore",
                        "DistributedLatch",
                        "LockOptions",
                        "Mode",
                        "LeaseLost",
                        "Sequencer",
                        "Inspector",
                        "LockInfo",
                        "Guarantees",
                        "Guarantee",
                        "KeeperListener",
                        "LeaderElection",
                        "LockkeeperException",
                        "StoreUnavailableException",
                        "LeaseLostException",
                        "StaleTokenException",
                        "Fence",
                        "DeadlockException",
                        "ConflictingUseException",
                        "KeeperClosedException");
    }

    @Test
    void theSpiIsSmall() {
        assertThat(publicIn("io.lockkeeper.spi"))
                .containsExactlyInAnyOrder(
                        "LockStore",
                        "Liveness",
                        "StoreProvider",
                        "StoreUrl",
                        "Secrets",
                        "Claim",
                        "ClaimId",
                        "Terms",
                        "Answer",
                        "Grant",
                        "Renewals",
                        "Renewal",
                        "StoreTime",
                        "Signals",
                        "Subscription",
                        "LatchStep",
                        "LatchState",
                        "NameCodec",
                        "Promises",
                        "Ranges",
                        "Ticker");
        assertThat(MAIN.get("io.lockkeeper.spi.LockStore").getMethods())
                .extracting(JavaMethod::getName)
                .containsExactlyInAnyOrder(
                        "id",
                        "guarantees",
                        "time",
                        "claim",
                        "renew",
                        "release",
                        "downgrade",
                        "withdraw",
                        "latch",
                        "inspect",
                        "list",
                        "check",
                        "breakHold",
                        "canDecideClaims",
                        "liveness",
                        "listen",
                        "lane",
                        "skew",
                        "ticker",
                        "close");
    }

    @Test
    void theEngineShowsOnlyItsDoors() {
        assertThat(publicIn("io.lockkeeper.engine")).containsExactlyInAnyOrder("Config", "MultiLock", "Primitives");
        assertThat(publicIn("io.lockkeeper.memory"))
                .containsExactlyInAnyOrder("MemoryCore", "MemoryProvider", "MemoryStore");
        assertThat(publicIn("io.lockkeeper.quorum")).containsExactlyInAnyOrder("QuorumOptions", "QuorumStore");
    }

    @Test
    void nothingPublicIsOpenToInheritanceByAccident() {
        MAIN.stream()
                .filter(c -> c.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(c -> !c.getSimpleName().equals("package-info"))
                .filter(c -> !c.isInterface() && !c.isEnum() && !c.isAnnotation())
                .filter(c -> !c.getSimpleName().equals("LockkeeperException")) // the root of the others
                .forEach(c -> assertThat(c.getModifiers()).as(c.getName()).contains(JavaModifier.FINAL));
    }

    @Test
    void exceptionsHaveOneRootAndAreUnchecked() {
        classes()
                .that()
                .areAssignableTo(Exception.class)
                .and()
                .resideInAPackage("io.lockkeeper")
                .should()
                .beAssignableTo(LockkeeperException.class)
                .check(MAIN);
        assertThat(RuntimeException.class).isAssignableFrom(LockkeeperException.class);
    }

    @Test
    void coreKnowsNothingButTheJdkAndItsAnnotations() {
        noClasses()
                .should(dependOnClassesThat(
                        resideOutsideOfPackages("java..", "io.lockkeeper..", "org.jspecify.annotations..")))
                .check(MAIN);
        noClasses()
                .should(dependOnClassesThat(resideInAnyPackage(
                        "java.sql..", "java.rmi..", "java.awt..", "java.util.logging..", "java.net.http..")))
                .because("core needs the module java.base alone")
                .check(MAIN);
    }

    @Test
    void theSpiKnowsTheApiAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.spi")
                .should(dependOnClassesThat(resideInAnyPackage(
                        "io.lockkeeper.engine..",
                        "io.lockkeeper.model..",
                        "io.lockkeeper.memory..",
                        "io.lockkeeper.quorum..")))
                .check(MAIN);
    }

    @Test
    void aQuorumKnowsTheSpiAlone() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.quorum")
                .should(dependOnClassesThat(resideInAnyPackage(
                        "io.lockkeeper.engine..", "io.lockkeeper.model..", "io.lockkeeper.memory..")))
                .check(MAIN);
    }

    @Test
    void theEngineKnowsNoStore() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.engine")
                .should(dependOnClassesThat(resideInAnyPackage(
                        "io.lockkeeper.model..", "io.lockkeeper.memory..", "io.lockkeeper.quorum..")))
                .check(MAIN);
    }

    @Test
    void theApiKnowsTheEngineOnlyWhereThingsAreMade() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper")
                .and(DescribedPredicate.not(namedLike("Lockkeeper", "DistributedLock")))
                .should(dependOnClassesThat(resideInAnyPackage(
                        "io.lockkeeper.engine..",
                        "io.lockkeeper.model..",
                        "io.lockkeeper.memory..",
                        "io.lockkeeper.quorum..")))
                .check(MAIN);
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper")
                .and(DescribedPredicate.not(namedLike("Lockkeeper", "DistributedLock")))
                .should(dependOnClassesThat(
                        resideInAPackage("io.lockkeeper.spi").and(DescribedPredicate.not(namedLike("NameCodec")))))
                .because("only the percent-encoding of names is shared")
                .check(MAIN);
    }

    private static DescribedPredicate<JavaClass> namedLike(String... topLevel) {
        Set<String> names = Set.of(topLevel);
        return DescribedPredicate.describe(
                "are " + names,
                c -> names.contains(c.getSimpleName())
                        || c.getEnclosingClass()
                                .filter(e -> names.contains(e.getSimpleName()))
                                .isPresent());
    }

    /** The API makes what it shows in two places, and percent-encodes names as stores do; there is no other way back. */
    @Test
    void packagesHaveNoCycles() {
        SlicesRuleDefinition.slices()
                .assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass c) {
                        return c.getPackageName().startsWith("io.lockkeeper")
                                ? SliceIdentifier.of(c.getPackageName())
                                : SliceIdentifier.ignore();
                    }

                    @Override
                    public String getDescription() {
                        return "packages";
                    }
                })
                .should()
                .beFreeOfCycles()
                .ignoreDependency(namedLike("Lockkeeper", "DistributedLock"), DescribedPredicate.alwaysTrue())
                .ignoreDependency(namedLike("Sequencer"), namedLike("NameCodec"))
                .check(MAIN);
    }

    @Test
    void theModelIsPure() {
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.model")
                .should(dependOnClassesThat(resideInAnyPackage(
                        "java.util.concurrent..",
                        "java.io..",
                        "java.nio..",
                        "java.net..",
                        "java.security..",
                        "io.lockkeeper.engine..",
                        "io.lockkeeper.memory..")))
                .check(MAIN);
        noClasses()
                .that()
                .resideInAPackage("io.lockkeeper.model")
                .should(dependOnClassesThat(namedExactly(
                        "java.lang.Thread",
                        "java.lang.ThreadLocal",
                        "java.lang.System",
                        "java.time.Clock",
                        "java.util.Random",
                        "java.util.UUID")))
                .check(MAIN);
        assertThat(calls("io.lockkeeper.model", "java.time.Instant", "now")).isEmpty();
    }

    private static DescribedPredicate<JavaClass> namedExactly(String... names) {
        Set<String> all = Set.of(names);
        return DescribedPredicate.describe("are one of " + all, c -> all.contains(c.getName()));
    }

    private static List<String> calls(String inPackage, String owner, String method) {
        return MAIN.stream()
                .filter(c -> c.getPackageName().startsWith(inPackage))
                .flatMap(c -> c.getMethodCallsFromSelf().stream())
                .filter(call -> call.getTargetOwner().getName().equals(owner)
                        && call.getTarget().getName().equals(method))
                .map(JavaMethodCall::getDescription)
                .toList();
    }

    @Test
    void nobodySleepsAndNoWallClockDecidesAnything() {
        assertThat(calls("io.lockkeeper", "java.lang.Thread", "sleep")).isEmpty();
        assertThat(calls("io.lockkeeper", "java.util.concurrent.TimeUnit", "sleep"))
                .isEmpty();
        assertThat(calls("io.lockkeeper", "java.time.Instant", "now")).isEmpty();
        assertThat(calls("io.lockkeeper", "java.lang.System", "currentTimeMillis"))
                .as("once, to show people when a hold began")
                .hasSizeLessThanOrEqualTo(1)
                .allMatch(call -> call.contains("MemoryCore.system"));
    }

    @Test
    void theMonotonicClockIsReadInTheTickerAlone() {
        assertThat(calls("io.lockkeeper", "java.lang.System", "nanoTime"))
                .as("and where the threads' end is awaited")
                .allMatch(call -> call.contains("spi.Ticker")
                        || call.contains("engine.Workers")
                        || call.contains("engine.Claims")
                        || call.contains("engine.Events")
                        || call.contains("engine.Keeper"));
    }

    @Test
    void allThreadsAreDaemonsMadeInOnePlace() {
        List<String> made = MAIN.stream()
                .flatMap(c -> c.getConstructorCallsFromSelf().stream())
                .filter(call -> call.getTargetOwner().isAssignableTo(Thread.class))
                .map(JavaConstructorCall::getDescription)
                .toList();
        assertThat(made)
                .as("but for the shutdown hook, which is no thread of ours until the end")
                .allMatch(call -> call.contains("engine.Threads")
                        || call.contains("engine.Keeper")
                        || call.contains("quorum.MemberThreads"));
        assertThat(calls("io.lockkeeper", "java.util.concurrent.Executors", "newCachedThreadPool"))
                .isEmpty();
        noClasses()
                .should(dependOnClassesThat(namedExactly(
                        "java.util.concurrent.Executors",
                        "java.util.concurrent.ForkJoinPool",
                        "java.util.Timer",
                        "java.util.concurrent.ScheduledThreadPoolExecutor")))
                .check(MAIN);
        List<JavaConstructorCall> pools = MAIN.stream()
                .flatMap(c -> c.getConstructorCallsFromSelf().stream())
                .filter(call -> call.getTargetOwner().getName().equals("java.util.concurrent.ThreadPoolExecutor"))
                .toList();
        assertThat(pools).isNotEmpty().allSatisfy(call -> assertThat(
                        call.getTarget().getRawParameterTypes())
                .as("each pool is told how to make its threads: %s", call.getDescription())
                .extracting(JavaClass::getName)
                .contains("java.util.concurrent.ThreadFactory"));
    }

    @Test
    void onlyPackagesOfTheDesignExist() {
        Set<String> packages =
                MAIN.stream().map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));
        assertThat(packages)
                .isSubsetOf(
                        "io.lockkeeper",
                        "io.lockkeeper.spi",
                        "io.lockkeeper.engine",
                        "io.lockkeeper.model",
                        "io.lockkeeper.memory",
                        "io.lockkeeper.quorum");
        assertThat(MAIN.that(resideInAPackage("io.lockkeeper.engine"))).isNotEmpty();
    }
}
