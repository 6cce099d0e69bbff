// Signatures, compared with the published vector and with the HMAC of Node.
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { newSecret, signatureHeaders, signatures, signingKey, withPrefix } from './signature.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const AT_S = 1614265330
const BODY = Buffer.from('{"test": 2432232314}')
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

test('the public vector is signed as published, with and without the prefix of its secret', () => {
  assert.equal(signatures([signingKey(SECRET)], ID, AT_S, BODY), SIGNATURE)
  assert.equal(signatures([signingKey(SECRET.slice(6))], ID, AT_S, BODY), SIGNATURE)
})

test('consecutive signatures are HMACs, for every length of key and content', () => {
  for (const keyBytes of [24, 63, 64, 65, 75])
    for (const bodyBytes of [0, 1, 2700, 16_384, 70_000, 300]) {
      const [secret, body] = [randomBytes(keyBytes), randomBytes(bodyBytes)]
      const expected = createHmac('sha256', secret).update(`${ID}.${AT_S}.`).update(body).digest('base64')
      const signed = signatures([signingKey(secret.toString('base64'))], ID, AT_S, body)
      assert.equal(signed, `v1,${expected}`, `${bodyBytes} bytes signed with ${keyBytes}`)
    }
})

test('raw bytes are signed: one more space at the end changes the signature', () => {
  const sign = (text: string) => signatures([signingKey(SECRET)], ID, AT_S, Buffer.from(text))
  assert.notEqual(sign('{"name":"Ünïcode"} '), sign('{"name":"Ünïcode"}'))
})

test('signatures of several keys follow in order, separated by a space, under both header names', () => {
  const keys = [signingKey(newSecret()), signingKey(SECRET)]
  const headers = signatureHeaders(keys, ID, AT_S, BODY)
  assert.equal(headers['webhook-signature']!.split(' ')[1], SIGNATURE)
  assert.deepEqual(Object.keys(headers).sort(), [
    'svix-id',
    'svix-signature',
    'svix-timestamp',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
  ])
})

test('a new secret has 24 bytes after its prefix, and a missing prefix is added', () => {
  assert.equal(Buffer.from(newSecret().replace('whsec_', ''), 'base64').length, 24)
  assert.equal(withPrefix(SECRET.slice(6)), SECRET)
  assert.equal(withPrefix(SECRET), SECRET)
})
