// A link to one hub, in a session of its own: what is wrong with a hub ends its link and nothing else.
import type { Connection, Delivery, EventContext, Sender, Session } from 'rhea'
import { lost, reasonOf, refused, taken, type Fate } from '../broker-message.ts'

export class HubLink {
  readonly #session: Session
  readonly #sender: Sender
  readonly #connection: Connection
  readonly #waiting = new Map<Delivery, (fate: Fate) => void>()
  #sendable: (() => void)[] = []
  #over: Fate | undefined

  constructor(connection: Connection, hub: string) {
    this.#connection = connection
    this.#session = connection.create_session()
    const ended = (what: string) => () =>
      this.#end(refused(reasonOf(this.#sender.error ?? this.#session.error ?? { code: what })))
    this.#session.on('session_error', ended('session ended'))
    this.#session.on('session_close', ended('session ended'))
    this.#session.open()
    this.#sender = this.#session.open_sender({ target: { address: hub } })
    this.#sender.on('sender_error', ended('link ended'))
    this.#sender.on('sender_close', ended('link ended'))
    this.#sender.on('sendable', () => {
      for (const go of this.#sendable.splice(0)) go()
    })
    this.#sender.on('accepted', ({ delivery }) => this.#settle(delivery, taken))
    this.#sender.on('rejected', (context) => this.#settle(context.delivery, refused(rejection(context))))
    this.#sender.on('released', ({ delivery }) => this.#settle(delivery, refused('released')))
    this.#sender.on('modified', ({ delivery }) => this.#settle(delivery, refused('modified')))
    connection.on('disconnected', this.#disconnected)
    connection.on('connection_close', this.#disconnected)
  }

  /** Nothing can be sent over it any more. */
  get isOver(): boolean {
    return this.#over !== undefined
  }

  /** Send a message when there is room for it. */
  async send(encoded: Buffer): Promise<Fate> {
    while (!this.#over && !this.#sender.sendable()) await new Promise<void>((go) => this.#sendable.push(go))
    if (this.#over) return this.#over
    return new Promise((resolve) => this.#waiting.set(this.#sender.send(encoded, undefined, 0), resolve))
  }

  close(): void {
    this.#connection.removeListener('disconnected', this.#disconnected)
    this.#connection.removeListener('connection_close', this.#disconnected)
    if (!this.isOver) this.#session.close()
    this.#end(lost('closed'))
  }

  #disconnected = (): void => this.#end(lost('disconnected'))

  #settle(delivery: Delivery | undefined, fate: Fate): void {
    const done = delivery && this.#waiting.get(delivery)
    if (!done) return
    this.#waiting.delete(delivery)
    done(fate)
  }

  #end(fate: Fate): void {
    this.#over ??= fate
    for (const done of this.#waiting.values()) done(this.#over)
    this.#waiting.clear()
    for (const go of this.#sendable.splice(0)) go()
  }
}

const rejection = ({ delivery }: EventContext): string =>
  reasonOf((delivery?.remote_state as { error?: unknown } | undefined)?.error ?? { code: 'rejected' })
