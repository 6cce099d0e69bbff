// The steps of a check on the network: name, port, TLS, and over MLLP an echo with its acknowledgment.
import { randomBytes } from 'node:crypto'
import { ForbiddenAddressError, type TargetPolicy } from '../../platform/net/outbound-targets.ts'
import type { AccountLink } from '../accounts/account-links.ts'
import { Unsendable } from '../link-orders/unsendable.ts'
import { clientDestination } from '../link-transports/link-places.ts'
import { connectTo, type Destination } from '../link-transports/secure-connect.ts'
import { createStep, type CheckStep, type NetworkContext } from './check-step.ts'
import { writeEcho } from './echo-message.ts'
import { EXCHANGE_TEXTS, exchangeMessage, type Exchange, type ExchangeProblem } from './exchange-message.ts'

/** The steps of the connection on which messages go to the laboratory. What fails ends them. */
export async function* checkClient(link: AccountLink, network: NetworkContext, now: Date): AsyncGenerator<CheckStep> {
  for await (const step of checkPort(clientDestination(link.profile.transport), network)) {
    yield step
    if (step.outcome === 'failed') return
  }
  yield await checkEcho(link, network, now)
}

/** Name, port and TLS. What fails ends the steps. */
export async function* checkPort(
  destination: Destination,
  { targets, isSandbox }: Pick<NetworkContext, 'targets' | 'isSandbox'>,
): AsyncGenerator<CheckStep> {
  const { host, port, tls } = destination
  const addresses = await targets.addresses(host, isSandbox).catch((error: Error) => error)
  if (addresses instanceof ForbiddenAddressError)
    return yield createStep('name', 'failed', `${host} is not a public address`, 'Add it to WEBHOOK_ALLOW')
  if (addresses instanceof Error || addresses.length === 0)
    return yield createStep('name', 'failed', `${host} has no address`, 'Check the host and the name server of this machine')
  yield createStep('name', 'ok', `${host} is ${addresses.join(', ')}`)
  const problem = await tryConnection({ ...destination, tls: undefined }, targets, isSandbox)
  if (problem) return yield createStep('port', 'failed', `port ${port}: ${problem}`, portAdvice(problem))
  yield createStep('port', 'ok', `port ${port} is open`)
  if (!tls) return
  const tlsProblem = await tryConnection(destination, targets, isSandbox)
  if (tlsProblem) return yield createStep('tls', 'failed', tlsProblem, tlsAdvice(tlsProblem))
  yield createStep('tls', 'ok', 'TLS 1.2 or newer, with a certificate for the name')
}

/** @returns the code or the message of the error; undefined if the connection was opened */
async function tryConnection(destination: Destination, targets: TargetPolicy, isSandbox: boolean): Promise<string | undefined> {
  try {
    const socket = await connectTo(destination, targets, isSandbox)
    socket.destroy()
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code ?? message
  }
}

function portAdvice(problem: string): string {
  if (problem === 'ECONNREFUSED')
    return 'Nothing listens there: check the port, and ask the laboratory whether its interface runs'
  if (problem === 'ETIMEDOUT')
    return 'A firewall drops the connection: tell the laboratory the address of this server, or check the tunnel'
  return 'Check the network between this server and the laboratory'
}

function tlsAdvice(problem: string): string {
  if (problem === 'CERT_HAS_EXPIRED') return 'Ask the laboratory for a new certificate'
  if (problem === 'CERT_NOT_YET_VALID') return 'Compare the clock of this machine with the certificate of the laboratory'
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'The certificate is for another name: set transport.client.server_name to the name that the laboratory confirms'
  if (/CERT|ISSUER|SELF_SIGNED/u.test(problem)) return "Set transport.client.authority to the laboratory's certificate authority"
  return 'Ask the laboratory whether its port has TLS 1.2, and whether it asks for transport.client.certificate'
}

/** A check must end: a profile may wait longer for acknowledgments. */
const ECHO_MS_MAX = 30_000

/** Sends the test message and judges what comes back. */
async function checkEcho({ profile, account_number }: AccountLink, network: NetworkContext, now: Date): Promise<CheckStep> {
  const { client } = profile.transport
  if (!client.echo)
    return createStep('echo', 'open', 'the profile has no echo (transport.client.echo)', 'Trial orders show the acknowledgment')
  const control_id = `ECHO${randomBytes(6).toString('hex').toUpperCase()}`
  const start_ms = performance.now()
  try {
    const bytes = writeEcho({ profile, account_number, control_id, now })
    const wait_ms = Math.min(client.answer_timeout_s * 1000, ECHO_MS_MAX)
    const exchange = await exchangeMessage({ profile, network, bytes, control_id, wait_ms, isCommitEnough: true })
    return judgeEcho(exchange, { control_id, duration_ms: Math.round(performance.now() - start_ms) })
  } catch (error) {
    if (error instanceof Unsendable)
      return createStep('echo', 'failed', error.faults.join('; '), 'Correct the profile: bin/drawbridge links set')
    const { code, message } = error as NodeJS.ErrnoException
    return createStep('echo', 'failed', code ?? message, BUSY)
  }
}

function judgeEcho(exchange: Exchange, { control_id, duration_ms }: { control_id: string; duration_ms: number }): CheckStep {
  if ('problem' in exchange) {
    const { problem, other_id } = exchange
    const detail = other_id === undefined ? '' : `, "${printable(other_id)}" instead of "${control_id}"`
    return createStep('echo', 'failed', `${lowerFirst(EXCHANGE_TEXTS[problem])}${detail}`, ECHO_ADVICE[problem])
  }
  const { code, text } = exchange.answer
  const said = text === null ? '' : `: ${printable(text).trim()}`
  if (code.endsWith('A'))
    return createStep('echo', 'ok', `the laboratory acknowledged ${control_id} with ${code} after ${duration_ms} ms${said}`)
  return createStep(
    'echo',
    'open',
    `the laboratory answered ${control_id} with ${code} after ${duration_ms} ms${said}`,
    REFUSAL_ADVICE,
  )
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

const TEXT_LENGTH_MAX = 200
/** What the laboratory wrote, in one line. */
const printable = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, TEXT_LENGTH_MAX)

const BUSY = 'The laboratory may take one connection at a time: check again in mode off'
const REFUSAL_ADVICE =
  'Messages and acknowledgments pass. If the laboratory refuses more than the type NMQ^N01, correct identity in the profile'

const ECHO_ADVICE: Record<ExchangeProblem, string> = {
  silent: `Ask the laboratory whether it received the message and answers each. ${BUSY}. If it never answers NMQ^N01, set transport.client.echo=false`,
  closed: `Ask the laboratory whether it admits this server. ${BUSY}`,
  refused: 'Ask the laboratory whether it asks for transport.client.certificate, and trusts ours',
  half: 'Ask the laboratory whether its interface ends acknowledgments with FS and CR',
  without_return: 'Ask the laboratory to end acknowledgments with FS and CR, or set transport.listener.ends_without_cr=true',
  unframed: 'Ask the laboratory whether the port is that of its HL7 interface, with MLLP',
  other_message: 'Ask the laboratory to return MSH-10 of the message in MSA-2',
  no_answer: 'Ask the laboratory whether the port is that of its HL7 interface: an acknowledgment has MSA with AA, AE or AR',
}
