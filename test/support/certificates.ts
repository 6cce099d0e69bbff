// Certificates for tests of TLS, made by openssl.
import { execFileSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
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
