// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import io.lockkeeper.LockkeeperException;
import io.lockkeeper.spi.StoreUrl;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * What connections over TLS need: the certificates to trust, by default those of the JVM, and the client's own
 * certificate, if the server asks for one. The name in a server's certificate must be that of the host.
 */
public final class Tls {
    /** The parameters of URLs over TLS. */
    public static final Set<String> KNOWN = Set.of("trustStore", "trustStorePassword", "keyStore", "keyStorePassword");

    private static final String PEM = "-----BEGIN";

    private final SSLContext context;

    private Tls(SSLContext context) {
        this.context = context;
    }

    /**
     * What a URL says about TLS.
     *
     * @throws IllegalArgumentException naming the file that cannot be used, and never a password
     */
    public static Tls of(StoreUrl url) {
        Optional<String> trust = url.parameter("trustStore");
        Optional<String> keys = url.parameter("keyStore");
        char @Nullable [] trustPassword = password(url, "trustStorePassword", trust.isPresent(), "trustStore");
        char @Nullable [] keyPassword = password(url, "keyStorePassword", keys.isPresent(), "keyStore");
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    keys.isEmpty() ? null : identity(keys.get(), keyPassword),
                    trust.isEmpty() ? null : trusted(trust.get(), trustPassword),
                    null);
            return new Tls(context);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("this JVM has no TLS: " + e.getMessage(), e);
        }
    }

    private static char @Nullable [] password(StoreUrl url, String name, boolean hasStore, String store) {
        Optional<String> given = url.parameter(name);
        if (given.isPresent() && !hasStore) {
            throw new IllegalArgumentException("parameter '" + name + "' needs parameter '" + store + "'");
        }
        return given.map(String::toCharArray).orElse(null);
    }

    private static KeyManager[] identity(String file, char @Nullable [] password) {
        try {
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(load(file, password), password);
            return factory.getKeyManagers();
        } catch (IOException | GeneralSecurityException e) {
            throw refused("keyStore", file, "a PKCS12 or JKS file", e);
        }
    }

    private static TrustManager[] trusted(String file, char @Nullable [] password) {
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(isPem(Path.of(file)) ? pem(Path.of(file)) : load(file, password));
            return factory.getTrustManagers();
        } catch (IOException | GeneralSecurityException e) {
            throw refused("trustStore", file, "a PKCS12 or JKS file, or certificates as PEM", e);
        }
    }

    private static KeyStore load(String file, char @Nullable [] password) throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(new File(file), password);
    }

    private static boolean isPem(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(PEM.length()), StandardCharsets.ISO_8859_1).equals(PEM);
        }
    }

    private static KeyStore pem(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = Files.newInputStream(file)) {
            int number = 0;
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("ca" + number++, each);
            }
        }
        return store;
    }

    private static IllegalArgumentException refused(String what, String file, String allowed, Exception e) {
        return new IllegalArgumentException(
                LockkeeperException.printable("parameter '" + what + "': " + file
                        + " cannot be opened; allowed is " + allowed + " with the password in '" + what + "Password'"
                        + " (" + e.getClass().getSimpleName() + ")"),
                e);
    }

    /**
     * The likely cause of a failure to connect over TLS; a Redis without TLS takes the handshake for half a command,
     * and waits.
     */
    static JedisConnectionException hint(JedisConnectionException e, JedisClientConfig config) {
        boolean isPlain = false;
        for (Throwable t = e; t != null; t = t.getCause()) {
            String said = String.valueOf(t.getMessage());
            isPlain |= (t instanceof SocketTimeoutException && said.contains("Read timed out"))
                    || (t instanceof SSLException && said.contains("unrecognized SSL message"));
        }
        return isPlain && config.isSsl()
                ? new JedisConnectionException(e.getMessage() + " (it may not speak TLS on this port)", e)
                : e;
    }

    /** Makes connections of this config speak TLS. */
    @SuppressWarnings("deprecation") // what replaces it takes files only, and no PEM
    public void configure(DefaultJedisClientConfig.Builder config) {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the name in the certificate is checked
        config.ssl(true).sslSocketFactory(context.getSocketFactory()).sslParameters(parameters);
    }
}
