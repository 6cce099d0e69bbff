// A passkey in software: what a browser and an authenticator answer to the options of a server. Source: https://www.w3.org/TR/webauthn-3/.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

const sha256 = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url')
const [USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL] = [1, 4, 64]

/** What of the options a passkey looks at. */
interface Options {
  challenge: string
  rpId?: string
  rp?: { id?: string }
}

/** CBOR of a byte string. */
const cborBytes = (bytes: Buffer): Buffer =>
  Buffer.concat([
    bytes.length < 256 ? Buffer.from([0x58, bytes.length]) : Buffer.from([0x59, bytes.length >> 8, bytes.length & 255]),
    bytes,
  ])
const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])

export class SoftwarePasskey {
  readonly id = randomBytes(32)
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  #counter = 0

  /** What is wrong with its answers. */
  readonly flaws: { origin?: string; isUnverified?: boolean }

  constructor(flaws: { origin?: string; isUnverified?: boolean } = {}) {
    this.flaws = flaws
  }

  #clientData(type: string, challenge: string, origin: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.flaws.origin ?? origin, crossOrigin: false }))
  }

  #authenticatorData(rpId: string, extraFlags = 0): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE((this.#counter += 1))
    const flags = USER_PRESENT | (this.flaws.isUnverified ? 0 : USER_VERIFIED) | extraFlags
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter])
  }

  /** The answer to options of a registration. */
  register({ challenge, rp }: Options, origin: string) {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const point = (text: string | undefined) => cborBytes(Buffer.from(text!, 'base64url'))
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    const cose = Buffer.concat([Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]), point(x), Buffer.from([0x22]), point(y)])
    const length = Buffer.from([0, this.id.length])
    const authData = Buffer.concat([this.#authenticatorData(rp!.id!, HAS_CREDENTIAL), Buffer.alloc(16), length, this.id, cose])
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
      cborText('authData'),
      cborBytes(authData),
    ])
    return {
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(this.#clientData('webauthn.create', challenge, origin)),
        attestationObject: base64url(attestationObject),
        transports: ['internal'],
      },
    }
  }

  /** The answer to options of a sign-in. */
  signIn({ challenge, rpId }: Options, origin: string) {
    const clientData = this.#clientData('webauthn.get', challenge, origin)
    const authenticatorData = this.#authenticatorData(rpId!)
    const signature = createSign('SHA256')
      .update(Buffer.concat([authenticatorData, sha256(clientData)]))
      .sign(this.#keys.privateKey)
    return {
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
      },
    }
  }
}
