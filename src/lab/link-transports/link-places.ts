// Where the messages of a link go and come from, by its profile.
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { FileStore } from './file-store.ts'
import { LocalFolder } from './local-folder.ts'
import { connectTo, type Destination } from './secure-connect.ts'
import { SftpStore } from './sftp-store.ts'

/** The port of the laboratory. */
export function clientDestination({ client }: LinkProfile['transport']): Destination {
  const { host, port, tls, server_name, authority, certificate, key } = client
  return { host, port, tls: tls ? { server_name, authorities: authority, certificate, key: key || undefined } : undefined }
}

interface FilePlace {
  account_id: string
  /** With its secrets. */
  profile: LinkProfile
  isSandbox: boolean
  targets: TargetPolicy
  lab_folder: string | undefined
}

/** The place of a link's folders. Those on this server are created. Errors: FolderError. */
export async function openFileStore(
  kind: 'folder' | 'sftp',
  { account_id, profile, isSandbox, targets, lab_folder }: FilePlace,
): Promise<FileStore> {
  const { orders, results, folder, sftp } = profile.transport
  if (kind === 'sftp') return SftpStore.open(sftp, () => connectTo({ ...sftp, tls: undefined }, targets, isSandbox))
  const store = await LocalFolder.open(lab_folder, account_id)
  if (orders === 'folder') await store.createFolder(folder.orders)
  if (results === 'folder') await store.createFolder(folder.results)
  return store
}
