import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../settings/config.ts'
import { knownHosts } from './host-name.ts'

const acceptedHosts = (env: Record<string, string>, hosts: (string | undefined)[]) => {
  const isKnown = knownHosts(readConfig(env))
  return hosts.filter(isKnown)
}

const LOCAL = [
  'localhost',
  'LOCALHOST:8080',
  'team.localhost:1',
  '127.0.0.1:8080',
  '10.1.2.3',
  '[::1]:8080',
  '[fe80::1]',
  undefined,
  '',
]
const FOREIGN = [
  'rebound.example:8080',
  '127.0.0.1.example',
  'localhost.example',
  'notlocalhost',
  'drawbridge:8080',
  'host.docker.internal',
  'a.localhost.evil.example:80',
  '1.2.3.4.5',
  '[::1].example',
  'local host',
]

test('a demo server answers for addresses and localhost, and for no name that another party can let resolve to it', () => {
  assert.deepEqual(acceptedHosts({}, [...LOCAL, ...FOREIGN]), LOCAL)
})

test('a demo server answers for the hosts of PUBLIC_URL and CELL_HOSTS', () => {
  const env = { PUBLIC_URL: 'https://Demo.clinic.example:8443/path', CELL_HOSTS: 'us.clinic.example=sandbox-us' }
  const hosts = ['demo.clinic.example:8443', 'us.clinic.example', 'eu.clinic.example']
  assert.deepEqual(acceptedHosts(env, hosts), hosts.slice(0, 2))
})

test('a demo server on a network also answers for names that public DNS does not have', () => {
  const env = { HOST: '0.0.0.0', DEMO_ON_NETWORK: 'on' }
  assert.deepEqual(acceptedHosts(env, [...LOCAL, ...FOREIGN]), [
    ...LOCAL,
    'notlocalhost',
    'drawbridge:8080',
    'host.docker.internal',
  ])
})
