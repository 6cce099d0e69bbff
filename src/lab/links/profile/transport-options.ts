import { missingFault, valueFault, type Fault } from '../../../platform/schema/fault.ts'
import { Maybe, T, type Static } from '../../../platform/schema/schema.ts'
import { Choice, Count, Flag, Line, Lines, OptionGroup, Secret } from './option-types.ts'

const port = (standard: number, description: string) => Count(standard, [1, 65_535], description)

const Client = OptionGroup(
  {
    host: Line('Host name or address of the laboratory.', ''),
    port: port(2575, 'Port of the laboratory.'),
    tls: Flag(true, 'TLS 1.2 or newer. Without TLS only inside a private network or a tunnel.'),
    server_name: Line('Name in the certificate of the laboratory, if it is not the host name.', ''),
    authority: Maybe(
      T.String({ maxLength: 100_000, description: 'Certificates in PEM that certify the laboratory. Default: public ones.' }),
    ),
    certificate: Maybe(
      T.String({ maxLength: 100_000, description: 'Our certificate chain in PEM, if the laboratory asks for one.' }),
    ),
    key: Secret('Private key of our certificate in PEM.'),
    connections: Count(1, [1, 10], 'Connections at the same time. With more than one, messages may arrive in another order.'),
    gap_ms: Count(0, [0, 60_000], 'Pause after an acknowledgment before the next message, in milliseconds.'),
    answer_timeout_s: Count(30, [1, 600], 'Time for an acknowledgment, in seconds. After it the message is sent again.'),
    keep_open: Flag(true, 'Keeps the connection open between messages.'),
    echo: Flag(
      true,
      '`links check` sends a query for the status of the system (`NMQ^N01`), marked as a test, and waits for its acknowledgment.',
    ),
  },
  'MLLP connection to the laboratory.',
)

const Listener = OptionGroup(
  {
    port: port(2575, 'Port of this server to which the laboratory connects, one of `LAB_LISTEN`. Links may share a port.'),
    tls: Flag(true, 'The port must have TLS. Without TLS only inside a private network or a tunnel.'),
    client_certificates: Lines(
      'SHA-256 fingerprints of the certificates of the laboratory, one of which it must show, as `openssl x509 -fingerprint -sha256` prints them. Empty: none is asked for, unless `LAB_TLS_AUTHORITIES` is set.',
    ),
    addresses: Lines('Addresses or networks (`192.0.2.0/24`) that may connect. Others are disconnected. Empty: none.'),
    connections: Count(10, [1, 10], 'Connections of the laboratory at the same time.'),
    idle_timeout_s: Count(30, [1, 600], 'Longest pause within a message, in seconds. After it the connection is closed.'),
    ends_without_cr: Flag(false, 'A frame ends with the byte FS alone, without CR.'),
  },
  'MLLP connections from the laboratory.',
)

/** Of folders on this server and on others. */
const reading = (poll_s: number, poll_s_min: number) => ({
  pattern: Line('Names of files that are read; `*` stands for any text.', '*'),
  stable_s: Count(5, [0, 3600], 'A file is read when it has not changed for this time, in seconds.'),
  ends_with_terminator: Flag(
    true,
    'A file is complete when it ends with CR or LF; one that does not after a minute without a change goes to `error`. Without this option a pause of the writer is taken for the end.',
  ),
  poll_s: Count(poll_s, [poll_s_min, 86_400], 'Interval between looks into the folder, in seconds.'),
  acknowledgment_files: Flag(false, 'Writes an acknowledgment for each file that was read, as `NAME.ack`.'),
})

const Folder = OptionGroup(
  {
    orders: Line(
      'Folder in which messages to the laboratory are written, below `LAB_FOLDER` and the id of the account.',
      'orders',
    ),
    results: Line(
      'Folder from which messages of the laboratory are read, below `LAB_FOLDER` and the id of the account.',
      'results',
    ),
    ...reading(5, 1),
  },
  'Folders. Files are written under a name that ends with `.tmp` and then renamed; read files go to `done` or `error` below.',
)

const Sftp = OptionGroup(
  {
    host: Line('Host name or address of the SFTP server.', ''),
    port: port(22, 'Port of the SFTP server.'),
    user: Line('User name.', ''),
    password: Secret('Password.'),
    private_key: Secret('Private key in PEM or the form of OpenSSH.'),
    passphrase: Secret('Passphrase of the private key.'),
    host_key: Line('SHA-256 fingerprint of the server, as `ssh-keygen -l` prints it: `SHA256:…`.', ''),
    orders: Line('Folder on the SFTP server for messages to the laboratory.', ''),
    results: Line('Folder on the SFTP server with messages of the laboratory.', ''),
    ...reading(60, 5),
  },
  'SFTP server of the laboratory.',
)

export const TransportOptions = OptionGroup(
  {
    orders: Choice(
      ['none', 'mllp', 'folder', 'sftp'],
      'none',
      'How messages go to the laboratory. `none`: it gets no orders over the link.',
    ),
    results: Choice(
      ['none', 'mllp', 'same_connection', 'folder', 'sftp'],
      'none',
      'How messages come from the laboratory. `same_connection`: over the connection on which orders go out. `none`: only `drawbridge links receive`.',
    ),
    client: Client,
    listener: Listener,
    folder: Folder,
    sftp: Sftp,
  },
  'How messages are transported.',
)

/** The faults of options that depend on each other. */
export function listTransportFaults({
  orders,
  results,
  client,
  listener,
  folder,
  sftp,
}: Static<typeof TransportOptions>): Fault[] {
  const usesClient = orders === 'mllp' || results === 'same_connection'
  const usesSftp = orders === 'sftp' || results === 'sftp'
  const requirements: [boolean, unknown, string][] = [
    [usesClient, client.host, 'client.host'],
    [client.certificate !== undefined, client.key, 'client.key'],
    [client.key !== undefined, client.certificate, 'client.certificate'],
    [results === 'mllp', listener.addresses.length, 'listener.addresses'],
    [orders === 'folder', folder.orders, 'folder.orders'],
    [results === 'folder', folder.results, 'folder.results'],
    [usesSftp, sftp.host, 'sftp.host'],
    [usesSftp, sftp.user, 'sftp.user'],
    [usesSftp, sftp.password ?? sftp.private_key, 'sftp.password'],
    [usesSftp, sftp.host_key, 'sftp.host_key'],
    [orders === 'sftp', sftp.orders, 'sftp.orders'],
    [results === 'sftp', sftp.results, 'sftp.results'],
  ]
  const faults = requirements.flatMap(([isNeeded, value, path]) =>
    isNeeded && !value ? [missingFault(['transport', ...path.split('.')])] : [],
  )
  if (results === 'same_connection' && orders !== 'mllp')
    faults.push(valueFault(['transport', 'results'], 'same_connection requires orders over mllp'))
  return faults
}
