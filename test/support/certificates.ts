// Certificates for tests of TLS, made by openssl.
import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TestCertificate {
  /** Paths of PEM files. */
  certificate: string
  key: string
  pem: string
  keyPem: string
  /** SHA-256, as openssl prints it. */
  fingerprint: string
}

/** A certificate that signs itself, for `localhost` and 127.0.0.1. */
export function makeCertificate(name: string): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', certificate, ...names], { stdio: 'ignore' })
  const pem = readFileSync(certificate, 'utf8')
  const { raw } = new X509Certificate(pem)
  const digits = createHash('sha256').update(raw).digest('hex').toUpperCase()
  return { certificate, key, pem, keyPem: readFileSync(key, 'utf8'), fingerprint: digits.replaceAll(/(..)(?!$)/g, '$1:') }
}

/** A certificate for `localhost` and 127.0.0.1 that signs itself and has expired. */
export function makeExpiredCertificate(): Omit<TestCertificate, 'fingerprint'> {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' })
  writeFileSync(join(folder, 'ca.cnf'), EXPIRED)
  writeFileSync(join(folder, 'index'), '')
  writeFileSync(join(folder, 'serial'), '01\n')
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=expired', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  openssl('req', ...kind, '-keyout', 'key.pem', '-out', 'request.pem', ...names)
  openssl(
    'ca',
    '-batch',
    '-config',
    'ca.cnf',
    '-selfsign',
    '-keyfile',
    'key.pem',
    '-in',
    'request.pem',
    '-out',
    'certificate.pem',
  )
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  return { certificate, key, pem: readFileSync(certificate, 'utf8'), keyPem: readFileSync(key, 'utf8') }
}

const EXPIRED = `[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
default_startdate = 20200101000000Z
default_enddate = 20200102000000Z
policy = any
copy_extensions = copy
[any]
commonName = supplied
`
