import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret, signatureHeaders, signatures, signingKey, withPrefix } from './signature.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const AT_S = 1614265330
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

test('the public vector is signed as published, with and without the prefix of its secret', () => {
  assert.equal(signatures([signingKey(SECRET)], ID, AT_S, '{"test": 2432232314}'), SIGNATURE)
  assert.equal(signatures([signingKey(SECRET.slice(6))], ID, AT_S, '{"test": 2432232314}'), SIGNATURE)
})

test('raw bytes are signed: a text and its bytes have one signature, a trailing space has another', () => {
  const keys = [signingKey(SECRET)]
  const text = '{"name":"Ünïcode  "}  '
  assert.equal(signatures(keys, ID, AT_S, text), signatures(keys, ID, AT_S, Buffer.from(text)))
  assert.notEqual(signatures(keys, ID, AT_S, text), signatures(keys, ID, AT_S, text.trim()))
})

test('several keys sign in their order, separated by a space, under both names', () => {
  const keys = [signingKey(newSecret()), signingKey(SECRET)]
  const headers = signatureHeaders(keys, ID, AT_S, '{"test": 2432232314}')
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

test('a new secret has 24 bytes behind its prefix, which is added where it is missing', () => {
  assert.equal(Buffer.from(newSecret().replace('whsec_', ''), 'base64').length, 24)
  assert.equal(withPrefix(SECRET.slice(6)), SECRET)
  assert.equal(withPrefix(SECRET), SECRET)
})
