// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * All classes of the repository, and what each declares.
 *
 * <p>The pages name classes and tests of all modules. No class path has all of these: tests are in no jar, some modules are on
 * no other's path, and when this test runs alone most are not even compiled. So this reads the sources, with the JDK's own
 * parser, which resolves nothing: a class is known by its simple name and its module (the folder above {@code src}), a
 * superclass by its simple name, in the same module if there is one. That is enough for pages, which say "{@code Hold.release}"
 * and put the module in parentheses where a name is there twice; and it does not mind when a class moves to another package.
 */
final class Sources {
    private static final Set<String> TEST_ANNOTATIONS =
            Set.of("Test", "TestFactory", "ParameterizedTest", "RepeatedTest", "TestTemplate");

    private final Map<String, List<Type>> types = new HashMap<>();
    private final Set<String> modules = new HashSet<>();

    private Sources() {}

    /** Reads the sources of all modules. */
    static Sources ofTheRepository() {
        List<Path> files = Repository.files(Repository.ROOT).stream()
                .filter(file -> file.toString().endsWith(".java"))
                .filter(file -> !file.getFileName().toString().matches("(package|module)-info\\.java"))
                .filter(file -> Repository.name(file).contains("/src/"))
                .toList();
        var sources = new Sources();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            var task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                String module = moduleOf(Path.of(unit.getSourceFile().toUri()));
                unit.getTypeDecls().forEach(declared -> sources.read(declared, module));
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return sources;
    }

    private static String moduleOf(Path file) {
        String name = Repository.name(file);
        String folder = name.substring(0, name.indexOf("/src/"));
        return folder.substring(folder.lastIndexOf('/') + 1);
    }

    private @Nullable Type read(Tree tree, String module) {
        if (!(tree instanceof ClassTree declared)) {
            return null;
        }
        var type = new Type(
                module, declared.getSimpleName().toString(), new HashSet<>(), new HashMap<>(), new HashMap<>());
        modules.add(module);
        types.computeIfAbsent(type.name(), name -> new ArrayList<>()).add(type);
        addSuper(type, declared.getExtendsClause());
        declared.getImplementsClause().forEach(clause -> addSuper(type, clause));
        declared.getModifiers().getAnnotations().forEach(annotation -> type.supers()
                .add("@" + nameOf(annotation)));
        for (Tree member : declared.getMembers()) {
            if (member instanceof MethodTree method) {
                Set<String> annotations =
                        type.members().computeIfAbsent(method.getName().toString(), name -> new HashSet<>());
                method.getModifiers().getAnnotations().forEach(annotation -> annotations.add(nameOf(annotation)));
            } else if (member instanceof VariableTree field) {
                type.members().computeIfAbsent(field.getName().toString(), name -> new HashSet<>());
            } else {
                Type nested = read(member, module);
                if (nested != null) {
                    type.nested().put(nested.name(), nested);
                }
            }
        }
        return type;
    }

    private static void addSuper(Type type, @Nullable Tree clause) {
        Tree raw = clause instanceof ParameterizedTypeTree generic ? generic.getType() : clause;
        if (raw instanceof IdentifierTree simple) {
            type.supers().add(simple.getName().toString());
        } else if (raw instanceof MemberSelectTree qualified) {
            type.supers().add(qualified.getIdentifier().toString());
        }
    }

    private static String nameOf(AnnotationTree annotation) {
        String name = annotation.getAnnotationType().toString();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    boolean hasModule(String name) {
        return modules.contains(name);
    }

    /** All classes of that simple name; with a module, those of that module. */
    List<Type> types(String name, @Nullable String module) {
        return types.getOrDefault(name, List.of()).stream()
                .filter(type -> module == null || type.module().equals(module))
                .toList();
    }

    /** The class that declares the member: this one, or one that it inherits from; null if there is none. */
    @Nullable
    Type declaring(Type type, String member) {
        return lineage(type).stream()
                .filter(each ->
                        each.members().containsKey(member) || each.nested().containsKey(member))
                .findFirst()
                .orElse(null);
    }

    /** The class, and all of ours that it inherits from. */
    List<Type> lineage(Type type) {
        var lineage = new ArrayList<Type>();
        lineage.add(type);
        for (int i = 0; i < lineage.size(); i++) {
            for (String name : lineage.get(i).supers()) {
                List<Type> near = types(name, lineage.get(i).module());
                for (Type each : near.isEmpty() ? types(name, null) : near) {
                    if (!lineage.contains(each)) {
                        lineage.add(each);
                    }
                }
            }
        }
        return lineage;
    }

    /** Whether JUnit runs the method: by an annotation of its own, or by one of ours that has it. */
    boolean isTest(Type declaring, String method) {
        return declaring.members().getOrDefault(method, Set.of()).stream().anyMatch(this::makesATest);
    }

    private boolean makesATest(String annotation) {
        return TEST_ANNOTATIONS.contains(annotation)
                || types(annotation, null).stream().anyMatch(ours -> ours.supers().stream()
                        .anyMatch(on -> TEST_ANNOTATIONS.contains(on.substring(1))));
    }

    /**
     * A class.
     *
     * @param supers simple names of what it extends and implements, and of its annotations after an {@code @}
     * @param members methods and fields, with the annotations of methods
     */
    record Type(
            String module,
            String name,
            Set<String> supers,
            Map<String, Set<String>> members,
            Map<String, Type> nested) {

        @Override
        public String toString() {
            return name + " (" + module + ")";
        }
    }
}
