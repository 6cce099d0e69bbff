// The packages that speak to brokers. They are optional: an installation without brokers need not have them, and one with brokers says
// which to install.
import type { Broker } from './schema.ts'

/** Broker → the packages that it needs. */
export const packagesOf: Record<Broker, readonly string[]> = {
  rabbitmq: ['amqplib'],
  azure_amqp: ['rhea', '@azure/storage-blob'],
  cloud_pubsub: ['@google-cloud/pubsub'],
}

/** Whether a package is installed. Loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
