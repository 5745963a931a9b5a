package org.apache.kafka.clients.producer.internals;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.ClientRequest;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.KafkaClient;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ProduceResponseData.PartitionProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponse;
import org.apache.kafka.common.message.ProduceResponseData.TopicProduceResponseCollection;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.Uuid;

/** A connection that takes every request; a response comes only where a scenario says so. */
final class SilentClient {
    private final List<ClientRequest> unanswered = new ArrayList<>();
    private int requests;
    private boolean connected = true;

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

    /** Loses the connection for good: no request that is under way is answered. */
    void disconnect() {
        connected = false;
        while (!unanswered.isEmpty()) {
            answerFirst(true, null);
        }
    }

    /** Answers the first request: partition 0 of `topic` refuses its batch. */
    void refuseFirst(String topic, Errors error) {
        var refusal = new PartitionProduceResponse().setIndex(0).setErrorCode(error.code());
        var refused = new TopicProduceResponse()
                .setName(topic).setTopicId(Uuid.ONE_UUID).setPartitionResponses(List.of(refusal));
        var responses = new TopicProduceResponseCollection(List.of(refused).iterator());
        answerFirst(false, new ProduceResponse(new ProduceResponseData().setResponses(responses)));
    }

    private void answerFirst(boolean lost, ProduceResponse response) {
        ClientRequest request = unanswered.remove(0);
        short version = ApiKeys.PRODUCE.latestVersion();
        long nowMs = request.createdTimeMs();
        request.callback().onComplete(new ClientResponse(
                request.makeHeader(version), request.callback(), request.destination(), nowMs,
                nowMs, lost, null, null, response));
    }

    private Object answer(Method method, Object[] arguments) {
        switch (method.getName()) {
            case "ready" -> {
                return connected;
            }
            case "newClientRequest" -> {
                return new ClientRequest(
                        (String) arguments[0], (AbstractRequest.Builder<?>) arguments[1], requests,
                        "silent", (long) arguments[2], (boolean) arguments[3], (int) arguments[4],
                        (RequestCompletionHandler) arguments[5]);
            }
            case "send" -> {
                requests++;
                unanswered.add((ClientRequest) arguments[0]);
                return null;
            }
            case "pollDelayMs" -> {
                return Long.MAX_VALUE;
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
