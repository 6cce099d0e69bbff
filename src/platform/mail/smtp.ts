// Sends one email to an SMTP server and classifies its errors. The server's texts are not stored: they may repeat an address.
import type { Transporter } from 'nodemailer'
import type { ClaimedMail } from './mail-outbox.ts'

export interface SmtpSettings {
  host: string
  port: number
  /** `implicit`: TLS from the first byte; `starttls`: TLS before any command, or fail; `off`: plain text. */
  tls: 'implicit' | 'starttls' | 'off'
  user: string | undefined
  password: string | undefined
  /** `a@b` or `Name <a@b>`. */
  from: string
}

const PORTS = { implicit: 465, starttls: 587, off: 25 }
const SENDER = /^(?:[^<>\r\n]*<([^<>\s@]+@[^<>\s@]+)>|([^<>\s@]+@[^<>\s@]+))$/
const CONNECT_MS_MAX = 15_000
const SOCKET_TIMEOUT_MS = 20_000
const SEND_TIMEOUT_MS = 60_000

/** Whether a text is an email address, as `a@b` or `Name <a@b>`. */
export const isSender = (text: string): boolean => SENDER.test(text)

/** The server of an SMTP URL; undefined for any other text. `?tls=off`, with `smtp://` only, is the only parameter. */
export function parseSmtpUrl(url: string): Omit<SmtpSettings, 'from'> | undefined {
  const server = URL.canParse(url) ? new URL(url) : undefined
  if (!server?.hostname || !['', '/'].includes(server.pathname)) return undefined
  const tls = ({ 'smtps:': 'implicit', 'smtp:': 'starttls', 'smtp:?tls=off': 'off' } as const)[server.protocol + server.search]
  if (!tls) return undefined
  try {
    return {
      host: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port ? Number(server.port) : PORTS[tls],
      tls,
      user: decodeURIComponent(server.username) || undefined,
      password: decodeURIComponent(server.password) || undefined,
    }
  } catch {
    return undefined
  }
}

/** The outcome of an attempt. `again`: a retry may succeed. `error` is a code. */
export type SendOutcome = { isSent: true } | { isSent: false; retryable: boolean; error: string }

/** Sends emails, each on a connection of its own. */
export class Smtp {
  readonly #settings: SmtpSettings

  constructor(settings: SmtpSettings) {
    this.#settings = settings
  }

  /** Never throws: errors are outcomes. Takes 60 s at most. */
  async send(mail: ClaimedMail): Promise<SendOutcome> {
    const { from } = this.#settings
    const domain = SENDER.exec(from)!.slice(1).find(Boolean)!.split('@')[1]!
    const transport = await this.#transport()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<SendOutcome>((resolve) => {
      timer = setTimeout(() => resolve({ isSent: false, retryable: true, error: 'ETIMEDOUT' }), SEND_TIMEOUT_MS)
    })
    const sent = transport
      .sendMail({
        from,
        to: { name: '', address: mail.recipient },
        subject: mail.subject,
        text: mail.body,
        messageId: `<${mail.id}@${domain}>`,
        date: new Date(mail.created_at),
        headers: { 'auto-submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      .then((): SendOutcome => ({ isSent: true }), toSendOutcome)
    try {
      return await Promise.race([sent, late])
    } finally {
      clearTimeout(timer)
      transport.close()
    }
  }

  async #transport(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    const { host, port, tls, user, password } = this.#settings
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'off',
      ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
      connectionTimeout: CONNECT_MS_MAX,
      greetingTimeout: CONNECT_MS_MAX,
      dnsTimeout: CONNECT_MS_MAX,
      socketTimeout: SOCKET_TIMEOUT_MS,
    })
  }
}

/** Commands that are about this email: the server would reject it again for the same permanent reason. */
const MESSAGE_COMMANDS = /^(MAIL FROM|RCPT TO|DATA)/

function toSendOutcome(error: unknown): SendOutcome {
  const { code = 'UNKNOWN', responseCode, command = '' } = error as { code?: string; responseCode?: number; command?: string }
  const final = responseCode !== undefined && responseCode >= 500 && MESSAGE_COMMANDS.test(command)
  return { isSent: false, retryable: !final, error: responseCode === undefined ? code : `${code} ${responseCode}` }
}
