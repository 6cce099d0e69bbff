// An SMTP server for tests: it speaks SMTP, sends the replies that a test sets, and records the messages.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { SecureContext } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A certificate of localhost for the key that the package `smtp-server` brings. Nobody but a test that says so trusts it. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIDJzCCAg+gAwIBAgIUOP2v1tjdzCPnmY0qZgAyy/+CBu0wDQYJKoZIhvcNAQEL
BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAzMTMxNVoYDzIxMjYx
MDI4MDMxMzE1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEB
AQUAA4IBDwAwggEKAoIBAQDpnlCqHD6hZ+G0SIwcTfYe33ibBMGkB+O3e8+lfwzs
MwJPAezXFxe9DiVDevCt4NM5Z2gl4QTLuAzFeofSPDRZ8HH7wgglTr3Gy07JPsVE
UO8DXJNFdjbK30rmzpIqR6f95sx+ZlH7Tc0PhQWwPOTPQV+ByOuReaswXkSHlRdf
/71gd5TGWnSAwC379K6ZKaAJrKzFkuMul3i5fP5f4lXGyTUAKDU2gQ7uVYkL/dYE
/swhy7bBWwx3Zd6AtPSBZh9PX+OwgfrhT+ZL9JVcL1CHEyX1h+SjaTHU6JiEPGEe
zvlElmGs1HGB+LCBJvnQbDg0BBoMjGv8Mk90uGCeljpRAgMBAAGjbzBtMB0GA1Ud
DgQWBBSegL99K9Dx1jwPCobBL4oY7XWrFjAfBgNVHSMEGDAWgBSegL99K9Dx1jwP
CobBL4oY7XWrFjAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9z
dIcEfwAAATANBgkqhkiG9w0BAQsFAAOCAQEAOv2tEji6gn4JDE+nS1JjpywGK4h7
Z7Ys9+etfkKz3Wf/pD/qmV9A4qAX+frmqsQdmljeqiMw6a2R9OWPlK6S1MnYq5da
MH9jx93VNaCnGsfcJajys7kiqCUI4b6f9oqu24ofdJJnw0HXIMxFS0Dvkwjfue92
PwB6zsPzk0AQR1VpfLkQ1JQL2f1TNfNMIiddwaHoSb8qYrwcog3gMNrlOf3jHqIc
b05W+O0l8SwcsGtouZRAUcN9UwvHxXLixFfTla1kOvX5Yl+FkpO6vVQH5fHkBt1/
5g0+mcjwNyDHGdPX0WHzb3v0jxxqJpRM9v1LhZok7E4w3cZuwRvD3htCPg==
-----END CERTIFICATE-----
`

/** What a server of TLS with that certificate needs. */
export const secureContext = (): SecureContext =>
  (new SMTPServer({ cert: certificate }) as unknown as { secureContext: Map<string, SecureContext> }).secureContext.get('*')!

interface ReceivedMail {
  from: string
  to: string[]
  /** The message, headers and all, as it came. */
  text: string
  id: string
  tls: boolean
  user: string
}

/** When a server answers, and with what: a code of SMTP, or nothing at all. Asked once per command of a mail. */
type Code = number | 'never' | undefined
export type SmtpReply = (command: 'RCPT' | 'DATA', recipient: string) => Code | Promise<Code>

export async function mailServer(answer: SmtpReply = () => undefined, options: SMTPServerOptions = {}) {
  const taken: ReceivedMail[] = []
  const asked: string[] = []
  const reply = async (command: 'RCPT' | 'DATA', recipient: string, callback: (error?: Error) => void) => {
    asked.push(command)
    const code = await answer(command, recipient)
    if (code === 'never') return
    callback(code === undefined ? undefined : Object.assign(new Error('swordfish says no'), { responseCode: code }))
  }
  const server = new SMTPServer({
    cert: certificate,
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    onAuth: (auth, _session, callback) => callback(null, auth.password === 'wrong' ? {} : { user: auth.username }),
    onRcptTo: ({ address }, _session, callback) => void reply('RCPT', address, callback),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const { mailFrom, rcptTo } = session.envelope
        const to = rcptTo.map(({ address }) => address)
        void reply('DATA', to.join(), (error) => {
          if (!error)
            taken.push({
              from: mailFrom ? mailFrom.address : '',
              to,
              text,
              id: /^message-id: (.*)\r$/im.exec(text)?.[1] ?? '',
              tls: session.secure,
              user: String(session.user ?? ''),
            })
          callback(error ?? null)
        })
      })
    },
    ...options,
  })
  // A client that is killed breaks its connection.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  after(() => void server.close())
  return { port, url: `smtp://127.0.0.1:${port}`, taken, asked }
}
