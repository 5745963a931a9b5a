package org.apache.kafka.clients.producer.internals;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.requests.AbstractRequest;

/** A connection that takes every request; no response ever comes. */
final class SilentClient {
    private int requests;

    /** What Kafka's Sender calls; other calls are refused. */
    KafkaClient asClient() {
        return (KafkaClient) Proxy.newProxyInstance(
                KafkaClient.class.getClassLoader(), new Class<?>[] {KafkaClient.class},
                (self, method, arguments) -> answer(method, arguments));
    }

    /** How many requests were sent. */
    int requests() {
        return requests;
    }

    private Object answer(Method method, Object[] arguments) {
        switch (method.getName()) {
            case "ready" -> {
                return true;
            }
            case "newClientRequest" -> {
                return new ClientRequest(
                        (String) arguments[0], (AbstractRequest.Builder<?>) arguments[1], requests,
                        "silent", (long) arguments[2], (boolean) arguments[3], (int) arguments[4],
                        (RequestCompletionHandler) arguments[5]);
            }
            case "send" -> {
                requests++;
                return null;
            }
            case "poll" -> {
                return List.of();
            }
            case "close", "wakeup" -> {
                return null;
            }
            default -> throw new UnsupportedOperationException(method.toString());
        }
    }
}
