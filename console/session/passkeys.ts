// Passkeys in this browser: adding one, and signing in with one.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'

export type PasskeyOptions = components['schemas']['PasskeyOptions']
export type Passkey = components['schemas']['Passkey']

/** Why a passkey could not be used or added, in words for its owner. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError'
}

const IP_ADDRESS = /^(\d+(\.\d+){3}|\[.*\])$/

/** Why this page can use no passkeys; undefined if it can. */
export function passkeyObstacle(): string | undefined {
  const { hostname, protocol, port } = location
  if (IP_ADDRESS.test(hostname)) {
    const local = `${protocol}//localhost${port && `:${port}`}`
    return `Passkeys belong to a host name, and ${hostname} is an IP address. Open the console by a name: on this machine ${local}`
  }
  return globalThis.PublicKeyCredential ? undefined : 'This browser has no passkeys.'
}

/** Adds a passkey of this browser to the member who has signed in. */
export async function addPasskey(name: string): Promise<Passkey> {
  const options = await dataOf(api.POST('/console/api/passkeys/options'))
  const response = await createCredential(options)
  return dataOf(api.POST('/console/api/passkeys', { body: { name, response: { ...response } } }))
}

/** Signs in with any passkey that this browser has for the server. */
export async function signInWithPasskey(): Promise<void> {
  await answerWithPasskey(await dataOf(api.POST('/console/api/sign-in/passkey/options')))
}

/** Ends a sign-in that needs a passkey. */
export async function answerWithPasskey(options: PasskeyOptions): Promise<void> {
  const response = await readCredential(options)
  await api.POST('/console/api/sign-in/passkey', { body: { response: { ...response } } })
}

async function createCredential(options: PasskeyOptions): Promise<RegistrationResponseJSON> {
  const { startRegistration } = await loadWebAuthn()
  try {
    return await startRegistration({ optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON })
  } catch (error) {
    throw toPasskeyError(error, 'added')
  }
}

async function readCredential(options: PasskeyOptions): Promise<AuthenticationResponseJSON> {
  const { startAuthentication } = await loadWebAuthn()
  try {
    return await startAuthentication({ optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON })
  } catch (error) {
    throw toPasskeyError(error, 'used')
  }
}

/** Only who has a passkey loads it. */
const loadWebAuthn = () => import('@simplewebauthn/browser')

function toPasskeyError(error: unknown, outcome: 'added' | 'used'): PasskeyError {
  const obstacle = passkeyObstacle()
  if (obstacle !== undefined) return new PasskeyError(obstacle)
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') return new PasskeyError('This device has a passkey of your account already.')
  // Browsers do not tell a refusal of the owner from the lack of a passkey, so that pages learn nothing about either.
  return new PasskeyError(`No passkey was ${outcome}: it was cancelled, took too long, or this device has none for this host.`)
}
