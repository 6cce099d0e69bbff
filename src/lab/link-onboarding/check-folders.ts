// The steps of a check in folders: login, and all that sending and receiving does there, with a file that no laboratory takes.
import { FolderError, type FileStore } from '../link-transports/file-store.ts'
import { ACKNOWLEDGMENT_ENDING, DONE } from '../link-transports/folder-reader.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { createStep, type CheckStep } from './check-step.ts'

type FolderKind = 'folder' | 'sftp'

/** Logs in, and tries the rights in the folders of the link. Files of the laboratory stay as they are. */
export async function* checkFolders(
  { orders, results, ...transport }: LinkProfile['transport'],
  kind: FolderKind,
  open: () => Promise<FileStore>,
): AsyncGenerator<CheckStep> {
  const store = await open().catch((error: Error) => error)
  if (store instanceof Error) return yield createStep('login', 'failed', store.message, loginAdvice(kind))
  yield createStep('login', 'ok', kind === 'sftp' ? `logged in as ${transport.sftp.user}` : 'the folder of the link exists')
  try {
    const folders = transport[kind]
    if (orders === kind)
      yield await checkRights(`orders in ${folders.orders}`, async () => {
        if (kind === 'folder') await store.createFolder(folders.orders)
        await tryFile(store, folders.orders, folders.orders)
        return 'a file was written, read back, renamed and deleted'
      })
    if (results === kind) {
      const list = await listResults(store, kind, folders.results)
      yield list.step
      if (list.names && folders.acknowledgment_files) yield judgeAcknowledgments(list.names)
    }
  } finally {
    await store.close()
  }
}

const loginAdvice = (kind: FolderKind): string =>
  kind === 'sftp'
    ? 'Check transport.sftp.user, password or private_key, and host_key'
    : 'Set LAB_FOLDER to a folder that the account of the server may write'

/** Messages are read, moved to a subfolder, and answered beside. */
async function listResults(store: FileStore, kind: FolderKind, folder: string): Promise<{ step: CheckStep; names?: string[] }> {
  let names: string[] | undefined
  const step = await checkRights(`results in ${folder}`, async () => {
    if (kind === 'folder') await store.createFolder(folder)
    names = (await store.list(folder)).map(({ name }) => name)
    await store.createFolder(`${folder}/${DONE}`)
    await tryFile(store, folder, `${folder}/${DONE}`)
    return `${names.length} files; one was written, read back, moved to ${DONE} and deleted`
  })
  return { step, ...(names && step.outcome === 'ok' && { names }) }
}

/** Neither the laboratory nor the server takes a file with this ending. */
const CHECK_FILE = 'drawbridge-check.tmp'
const MOVED_FILE = 'drawbridge-check-moved.tmp'
const CONTENT = Buffer.from('A file of the check of the link. It may be deleted.\n')

/** Writes a file, reads it back, moves it and deletes it. Errors: FolderError. */
async function tryFile(store: FileStore, folder: string, target: string): Promise<void> {
  const [path, moved] = [`${folder}/${CHECK_FILE}`, `${target}/${MOVED_FILE}`]
  try {
    await store.write(path, CONTENT)
    const bytes = await store.read(path, CONTENT.length)
    if (!bytes.equals(CONTENT)) throw new FolderError('A file that was written is read back with other bytes')
    await store.rename(path, moved)
    await store.remove(moved)
  } catch (error) {
    await store.remove(path).catch(() => undefined)
    await store.remove(moved).catch(() => undefined)
    throw error
  }
  if (await store.stat(moved)) throw new FolderError('A file that was deleted is still there')
}

function judgeAcknowledgments(names: readonly string[]): CheckStep {
  const count = names.filter((name) => name.endsWith(ACKNOWLEDGMENT_ENDING)).length
  return count > 0
    ? createStep(
        'acknowledgment files',
        'open',
        `${count} wait for the laboratory`,
        'Ask the laboratory whether it takes them: it should remove or move each',
      )
    : createStep('acknowledgment files', 'ok', 'none waits for the laboratory')
}

async function checkRights(subject: string, work: () => Promise<string>): Promise<CheckStep> {
  try {
    return createStep('folder', 'ok', `${subject}: ${await work()}`)
  } catch (error) {
    if (!(error instanceof FolderError)) throw error
    return createStep('folder', 'failed', `${subject}: ${error.message}`, 'Check the name of the folder and the rights in it')
  }
}
