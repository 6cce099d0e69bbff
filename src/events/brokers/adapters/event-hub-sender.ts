// A link to one hub, in a session of its own: an error of a hub ends only its link.
import type { Connection, Delivery, EventContext, Sender, Session } from 'rhea'
import { unreachable, errorCode, toRejection, ACKNOWLEDGED, type SendOutcome } from '../broker-message.ts'

export class HubSender {
  readonly #session: Session
  readonly #sender: Sender
  readonly #connection: Connection
  readonly #waiting = new Map<Delivery, (outcome: SendOutcome) => void>()
  #sendable: (() => void)[] = []
  #closed: SendOutcome | undefined

  constructor(connection: Connection, hub: string) {
    this.#connection = connection
    this.#session = connection.create_session()
    const ended = (reason: string) => () =>
      this.#fail(toRejection(errorCode(this.#sender.error ?? this.#session.error ?? { code: reason })))
    this.#session.on('session_error', ended('session ended'))
    this.#session.on('session_close', ended('session ended'))
    this.#session.open()
    this.#sender = this.#session.open_sender({ target: { address: hub } })
    this.#sender.on('sender_error', ended('link ended'))
    this.#sender.on('sender_close', ended('link ended'))
    this.#sender.on('sendable', () => {
      for (const go of this.#sendable.splice(0)) go()
    })
    this.#sender.on('accepted', ({ delivery }) => this.#resolve(delivery, ACKNOWLEDGED))
    this.#sender.on('rejected', (context) => this.#resolve(context.delivery, toRejection(rejection(context))))
    this.#sender.on('released', ({ delivery }) => this.#resolve(delivery, toRejection('released')))
    this.#sender.on('modified', ({ delivery }) => this.#resolve(delivery, toRejection('modified')))
    connection.on('disconnected', this.#disconnected)
    connection.on('connection_close', this.#disconnected)
  }

  /** Whether the link can no longer send. */
  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /** Sends a message when the link has credit. */
  async send(message: Buffer): Promise<SendOutcome> {
    while (!this.#closed && !this.#sender.sendable()) await new Promise<void>((go) => this.#sendable.push(go))
    if (this.#closed) return this.#closed
    return new Promise((resolve) => this.#waiting.set(this.#sender.send(message, undefined, 0), resolve))
  }

  close(): void {
    this.#connection.removeListener('disconnected', this.#disconnected)
    this.#connection.removeListener('connection_close', this.#disconnected)
    if (!this.isClosed) this.#session.close()
    this.#fail(unreachable('closed'))
  }

  #disconnected = (): void => this.#fail(unreachable('disconnected'))

  #resolve(delivery: Delivery | undefined, outcome: SendOutcome): void {
    const done = delivery && this.#waiting.get(delivery)
    if (!done) return
    this.#waiting.delete(delivery)
    done(outcome)
  }

  #fail(outcome: SendOutcome): void {
    this.#closed ??= outcome
    for (const done of this.#waiting.values()) done(this.#closed)
    this.#waiting.clear()
    for (const go of this.#sendable.splice(0)) go()
  }
}

const rejection = ({ delivery }: EventContext): string =>
  errorCode((delivery?.remote_state as { error?: unknown } | undefined)?.error ?? { code: 'rejected' })
