import { Maybe, T } from '../../../platform/schema/schema.ts'
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
  },
  'MLLP connection to the laboratory.',
)

const Listener = OptionGroup(
  {
    port: port(2575, 'Port that listens for the laboratory. Links may share a port.'),
    tls: Flag(true, 'TLS 1.2 or newer. Without TLS only inside a private network or a tunnel.'),
    certificate: Maybe(T.String({ maxLength: 100_000, description: 'Our certificate chain in PEM.' })),
    key: Secret('Private key of our certificate in PEM.'),
    client_authority: Maybe(
      T.String({
        maxLength: 100_000,
        description: 'Certificates in PEM. If present, the laboratory must show a certificate of theirs.',
      }),
    ),
    addresses: Lines('Addresses or networks (`192.0.2.0/24`) that may connect. Empty: any.'),
    idle_timeout_s: Count(30, [1, 600], 'Longest pause within a message, in seconds. After it the connection is closed.'),
    ends_without_cr: Flag(false, 'A frame ends with the byte FS alone, without CR.'),
  },
  'MLLP connections from the laboratory.',
)

const Folder = OptionGroup(
  {
    orders: Line('Folder on this server in which messages to the laboratory are written.', ''),
    results: Line('Folder on this server from which messages of the laboratory are read.', ''),
    pattern: Line('Names of files that are read; `*` stands for any text.', '*'),
    stable_s: Count(5, [0, 3600], 'A file is read when it has not changed for this time, in seconds.'),
    poll_s: Count(5, [1, 3600], 'Interval between looks into the folder, in seconds.'),
    acknowledgment_files: Flag(false, 'Writes an acknowledgment for each file that was read, as `NAME.ack`.'),
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
    pattern: Line('Names of files that are read; `*` stands for any text.', '*'),
    stable_s: Count(5, [0, 3600], 'A file is read when it has not changed for this time, in seconds.'),
    poll_s: Count(60, [5, 86_400], 'Interval between looks into the folder, in seconds.'),
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
