/** Names of brokers, as their makers write them. */
const NAMES: Record<string, string> = {
  rabbitmq: 'RabbitMQ',
  azure_amqp: 'Azure Event Hubs',
  cloud_pubsub: 'Google Cloud Pub/Sub',
  svix: 'Endpoints',
}

export const brokerName = (kind: string): string => NAMES[kind] ?? kind
