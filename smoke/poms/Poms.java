// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Checks that each published module has what a public repository such as Maven Central requires, once everything is inherited and
 * replaced. Arguments: the effective POMs of all modules in one file ({@code mvn help:effective-pom}), and the names of the artifacts
 * that are to be published.
 */
final class Poms {
    private static final XPath XPATH = XPathFactory.newInstance().newXPath();

    private static final List<String> REQUIRED = List.of(
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "developers/developer/organization",
            "developers/developer/organizationUrl",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");

    /** What all modules have in common: Maven would append the module's name to it if the parent did not forbid that. */
    private static final List<String> SAME = List.of("url", "scm/connection", "scm/developerConnection", "scm/url", "version");

    private final List<String> wrong = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        Poms poms = new Poms();
        poms.check(new File(args[0]), new TreeSet<>(List.of(args).subList(1, args.length)));
        poms.wrong.forEach(System.out::println);
        System.exit(poms.wrong.isEmpty() ? 0 : 1);
    }

    private void check(File file, Set<String> expected) throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file);
        NodeList projects = document.getElementsByTagName("project");
        Element first = null;
        Set<String> published = new TreeSet<>();
        for (int i = 0; i < projects.getLength(); i++) {
            Element project = (Element) projects.item(i);
            if (text(project, "properties/maven.deploy.skip").equals("true")) {
                continue;
            }
            String artifact = text(project, "artifactId");
            published.add(artifact);
            for (String path : REQUIRED) {
                String value = text(project, path);
                if (value.isEmpty() || value.contains("${")) {
                    wrong.add(artifact + " has no " + path + (value.isEmpty() ? "" : ", but " + value));
                }
            }
            first = first == null ? project : first;
            for (String path : SAME) {
                if (!text(project, path).equals(text(first, path))) {
                    wrong.add(artifact + " has another " + path + " than " + text(first, "artifactId") + ": "
                            + text(project, path));
                }
            }
            checkDependencies(project, artifact);
        }
        if (!published.equals(expected)) {
            wrong.add("published are " + published + " instead of " + expected);
        }
    }

    /** A release that depends on a snapshot cannot be used by anybody. */
    private void checkDependencies(Element project, String artifact) throws XPathExpressionException {
        NodeList versions = (NodeList) XPATH.evaluate(
                "dependencies/dependency[scope!='test']/version | dependencyManagement/dependencies/dependency/version",
                project,
                XPathConstants.NODESET);
        for (int i = 0; i < versions.getLength(); i++) {
            Node version = versions.item(i);
            if (version.getTextContent().endsWith("-SNAPSHOT")
                    && !text((Element) version.getParentNode(), "groupId").equals("io.lockkeeper")) {
                wrong.add(artifact + " depends on " + text((Element) version.getParentNode(), "artifactId") + " "
                        + version.getTextContent());
            }
        }
    }

    private static String text(Element element, String path) throws XPathExpressionException {
        return XPATH.evaluate(path, element).strip();
    }
}
