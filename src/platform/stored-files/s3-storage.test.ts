// The object store: signatures as its documentation computes them, and files through a peer that verifies every request.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { after, describe, test } from 'node:test'
import { s3Server, type S3Peer } from '../../../test/support/s3-server.ts'
import { StorageUnavailable } from './file-storage.ts'
import { signRequest } from './s3-signature.ts'
import { S3Storage, type S3Settings } from './s3-storage.ts'

function storageOn(
  { url: endpoint, bucket, region, access_key_id, secret_access_key }: S3Peer,
  overrides: Partial<S3Settings> = {},
) {
  const settings = { endpoint, bucket, region, access_key_id, secret_access_key, prefix: 'a part/', virtual_hosts: false }
  const storage = new S3Storage({ ...settings, ...overrides })
  after(() => storage.close())
  return storage
}
const refusal = (text: RegExp) => (error: unknown) => error instanceof StorageUnavailable && text.test(error.message)

describe('signatures', () => {
  // Source: the examples of "Signature Calculations for the Authorization Header", Amazon S3 API Reference.
  const credentials = {
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const host = 'examplebucket.s3.amazonaws.com'
  const at = new Date('2013-05-24T00:00:00Z')

  test('are equal to the examples that Amazon publishes', () => {
    const get = { method: 'GET', host, path: '/test.txt', headers: { Range: 'bytes=0-9' }, body: new Uint8Array() }
    assert.match(
      signRequest(get, credentials, at).authorization!,
      /SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/,
    )
    const put = {
      method: 'PUT',
      host,
      path: '/test%24file.text',
      headers: { Date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: Buffer.from('Welcome to Amazon S3.'),
    }
    assert.match(
      signRequest(put, credentials, at).authorization!,
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request, SignedHeaders=date;host;[^,]+, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/,
    )
  })
})

describe('an object store', () => {
  test('keeps, replaces and deletes files with any keys', async () => {
    const peer = await s3Server()
    const storage = storageOn(peer)
    const bytes = randomBytes(300_000)
    for (const key of ['0189/file-0', `a b/ü+&=?#%(1)'*!~.txt`]) {
      assert.equal(await storage.get(key), undefined)
      await storage.put(key, Buffer.from('earlier'))
      await storage.put(key, bytes)
      assert.deepEqual(peer.objects.get(`a part/${key}`), bytes)
      assert.deepEqual(await storage.get(key), bytes)
      await storage.remove(key)
      await storage.remove(key)
      assert.equal(await storage.get(key), undefined)
    }
    assert.equal(peer.objects.size, 0)
  })

  test('is reached with its bucket in the host name, too', async () => {
    const peer = await s3Server({ virtual_hosts: true })
    const looked: string[] = []
    const lookup: LookupFunction = (host, { all }, callback) => {
      looked.push(host)
      if (all) callback(null, [{ address: '127.0.0.1', family: 4 }])
      else callback(null, '127.0.0.1', 4)
    }
    const { bucket, region, access_key_id, secret_access_key } = peer
    const endpoint = peer.url.replace('127.0.0.1', 's3.fictional.example')
    const storage = new S3Storage(
      { endpoint, bucket, region, access_key_id, secret_access_key, prefix: '', virtual_hosts: true },
      lookup,
    )
    after(() => storage.close())
    await storage.put('0189/file-0', Buffer.from('text'))
    assert.deepEqual([...peer.objects], [['0189/file-0', Buffer.from('text')]])
    assert.deepEqual(looked, ['fictional-reports.s3.fictional.example'])
  })

  test('that is busy or breaks a connection is asked again, three times in all', async () => {
    const peer = await s3Server()
    const storage = storageOn(peer)
    peer.next.push(503, 'close')
    await storage.put('a/1', Buffer.from('text'))
    peer.next.push(429)
    assert.deepEqual(await storage.get('a/1'), Buffer.from('text'))
    peer.next.push(500, 500, 500)
    await assert.rejects(storage.get('a/1'), refusal(/^GET was answered 500 by the object store \(SlowDown\)$/))
    peer.next.push('close', 'close', 'close')
    await assert.rejects(storage.put('a/2', Buffer.from('text')), refusal(/^PUT did not reach the object store/))
    // What is deleted is tried again by the next round of the cleanup.
    peer.next.push(503)
    await assert.rejects(storage.remove('a/1'), refusal(/^DELETE was answered 503/))
    assert.equal(peer.next.length, 0)
  })

  test('that refuses is asked once, and the error has neither secret nor bytes', async () => {
    const peer = await s3Server()
    for (const [more, text] of [
      [{ secret_access_key: 'another' }, /^GET was answered 403 by the object store \(SignatureDoesNotMatch\)$/],
      [{ access_key_id: 'NOBODY' }, /\(InvalidAccessKeyId\)$/],
      [{ region: 'us-east-1' }, /\(AuthorizationHeaderMalformed\)$/],
      [{ bucket: 'no-such-bucket' }, /\(NoSuchBucket\)$/],
    ] as const) {
      const before = peer.requests.length
      await assert.rejects(storageOn(peer, more).get('a/1'), refusal(text))
      assert.equal(peer.requests.length, before + 1)
    }
  })

  test('that does not exist is reported as unreachable', async () => {
    const peer = await s3Server()
    await peer.stop()
    await assert.rejects(storageOn(peer).get('a/1'), refusal(/^GET did not reach the object store \(ECONNREFUSED\)$/))
  })
})
