import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskAddress } from './network.ts'

for (const [address, network] of [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:DB8::0001', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['127.1', '127.1'],
] as const)
  test(`the network of ${address} is ${network}`, () => assert.equal(maskAddress(address), network))

test('the network of a site is its /48', () =>
  assert.deepEqual(
    ['2001:db8:7:1::2', '2001:db8:7:ffff::1', '::ffff:192.0.2.7', '2001:db8:7::/48'].map((address) => maskAddress(address, 48)),
    ['2001:db8:7::/48', '2001:db8:7::/48', '192.0.2.7', '2001:db8:7::/48'],
  ))
