// OpenSSH's SFTP server for tests, as Debian has it: on a port of this machine, with the account of the tests and a folder.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { eventually } from './eventually.ts'
import { freePort } from './free-ports.ts'

const SSHD = '/usr/sbin/sshd'
const SFTP_SERVER = '/usr/lib/openssh/sftp-server'

/** Why tests with SFTP are left out; false: they are not. With CI_SFTP=required they fail instead. */
export const skipWithoutSftp: string | false =
  existsSync(SSHD) || process.env.CI_SFTP === 'required' ? false : 'openssh-server (Debian) is not installed'

export interface SftpServer {
  port: number
  user: string
  /** The private key that may log in. */
  private_key: string
  /** The fingerprint of the key of the server. */
  host_key: string
  /** An absolute path. */
  folder: string
  stop(): Promise<void>
  start(): Promise<void>
}

/** @param isReadOnly whether it refuses all changes of files */
export async function startSftpServer({ isReadOnly = false } = {}): Promise<SftpServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sftp-'))
  const path = (name: string) => join(folder, name)
  for (const name of ['host_key', 'user_key']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)])
  writeFileSync(path('authorized_keys'), readFileSync(path('user_key.pub')), { mode: 0o600 })
  const port = await freePort()
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host_key')}`,
    `PidFile ${path('pid')}`,
    `AuthorizedKeysFile ${path('authorized_keys')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin yes',
    `Subsystem sftp ${SFTP_SERVER}${isReadOnly ? ' -R' : ''}`,
  ]
  writeFileSync(path('sshd_config'), `${settings.join('\n')}\n`)
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', path('host_key')], { encoding: 'utf8' }).split(' ')[1]!
  let child: ReturnType<typeof spawn> | undefined
  const stop = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const end = once(child, 'exit')
    child.kill('SIGTERM')
    await end
  }
  const start = async () => {
    if (userInfo().uid === 0) execFileSync('mkdir', ['-p', '/run/sshd'])
    child = spawn(SSHD, ['-D', '-e', '-f', path('sshd_config')], { stdio: 'ignore' })
    await eventually(
      () =>
        new Promise<boolean>((resolve) => {
          const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true)).on('error', () => resolve(false))
          socket.on('connect', () => socket.destroy())
        }),
      'the SFTP server listens',
    )
  }
  await start()
  after(stop)
  execFileSync('mkdir', [path('files')])
  return {
    port,
    user: userInfo().username,
    private_key: readFileSync(path('user_key'), 'utf8'),
    host_key: fingerprint,
    folder: path('files'),
    stop,
    start,
  }
}
