// What a child process that runs tasks may do, and how the system holds it to that. docs/SECURITY.md says what holds on which system.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TaskReply } from './worker-pool.ts'

/** A reply of a child process, with what the process has used so far. */
export type ChildReply = TaskReply & { cpu_s: number; rss_mb: number }

/** What the second thread of a child watches. */
export interface Watched {
  parent_pid: number
  memory_max_mb: number
}

export interface TaskLimits {
  /** Memory of the whole process. */
  memory_max_mb: number
  /** Processor time of all tasks of a process together; the kernel ends it then. */
  cpu_s_max: number
  /** Files and folders that tasks read in addition to the program and its packages. */
  reads: readonly string[]
  /** Maximum size of what a task returns. */
  reply_max_mb: number
}

export interface TaskCommand {
  command: string
  hasNetwork: boolean
  words: string[]
  env: Record<string, string>
}

/** What the system enforces on the children of a pool. */
export interface Confinement {
  /** The kernel gives them no memory beyond their limit; elsewhere they watch themselves. */
  isMemoryLimited: boolean
  /** They have no network. */
  isOffline: boolean
}

/** The signal with which a child ends itself because of its memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'
/** The signal of the kernel for the limit of the processor. */
export const CPU_SIGNAL = 'SIGXCPU'

/**
 * V8 maps a range for machine code as memory that can be written, though it uses a few MB of it, and threads their stacks: the kernel counts
 * both.
 */
const MAPPED_MB = 512 + 96
const MB_IN_K = 1024
const PROBE_MS_MAX = 5_000
/** The kernel ends a process at its first limit of the processor with SIGXCPU, and at the second one with SIGKILL. */
const KILL_AFTER_S = 5

const program = fileURLToPath(new URL('../../../', import.meta.url))

/** The program and its packages: nothing else of the folder of a checkout, which may hold settings and keys. */
function readable(reads: readonly string[]): string[] {
  const paths = [join(program, 'src'), join(program, 'package.json'), ...reads]
  for (let folder = program; ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules')
    paths.push(...[packages, join(folder, 'package.json')].filter((path) => existsSync(path)), ...linkedFolders(packages))
    if (dirname(folder) === folder) break
  }
  return paths
}

/** Where packages are that a folder of packages only links to, as some package managers do: folders of packages as well. */
function linkedFolders(packages: string): string[] {
  if (!existsSync(packages)) return []
  const links = readdirSync(packages, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  const stores = links.flatMap(({ name }) => {
    const path = join(packages, name)
    return existsSync(path) ? dirname(realpathSync(path)) : []
  })
  return [...new Set(stores)].filter((path) => basename(path) === 'node_modules')
}

/** Options of V8: the garbage of a task does not grow to its limit of memory. */
const HEAP_OPTIONS = ['--v8-pool-size=1', '--max-semi-space-size=16', '--max-old-space-size=400', '--expose-gc']
const child = fileURLToPath(new URL('./task-child.ts', import.meta.url))

/**
 * The command that starts a child, without the settings of this process, which hold secrets. A shell sets the limits of the kernel: no core
 * dump, no byte written to a file, the time of the processor, and the memory, which macOS does not enforce.
 */
export async function childCommand({ memory_max_mb, cpu_s_max, reads }: TaskLimits): Promise<TaskCommand> {
  const cpu_s = Math.ceil(cpu_s_max)
  const kib = (memory_max_mb + MAPPED_MB) * MB_IN_K
  const script = `ulimit -c 0; ulimit -f 0; ulimit -H -t ${cpu_s + KILL_AFTER_S}; ulimit -S -t ${cpu_s}; ulimit -d ${kib}; exec "$@"`
  const permissions = [
    '--permission',
    '--allow-addons',
    '--allow-worker',
    ...readable(reads).map((path) => `--allow-fs-read=${path}`),
  ]
  const node = [process.execPath, ...HEAP_OPTIONS, ...permissions, '--no-warnings', child]
  const shell = ['/bin/sh', '-c', script, 'sh', ...node, String(process.pid), String(memory_max_mb)]
  const hasNetwork = !(await hasNamespaces())
  const [command, ...words] = hasNetwork ? shell : [...WITHOUT_NETWORK, ...shell]
  const { TZ } = process.env
  const env = {
    MALLOC_ARENA_MAX: '1',
    // The allocator of the canvas takes a GB at once otherwise, which counts though it is not used.
    MIMALLOC_ARENA_RESERVE: '32768',
    UV_THREADPOOL_SIZE: '2',
    ...(TZ && { TZ }),
  }
  return { command: command!, hasNetwork, words, env }
}

/** Whether the kernel limits the memory of a child that has begun to run tasks. macOS counts none of what a limit would be for. */
export function isMemoryLimited(pid: number): boolean {
  try {
    return /^Max data size +\d/m.test(readFileSync(`/proc/${pid}/limits`, 'latin1'))
  } catch {
    return false
  }
}

/** A network of its own, without any device: no account needs a right for it, unless the system forbids it. */
const WITHOUT_NETWORK = ['unshare', '--user', '--map-current-user', '--net', '--']

/** Whether the system lets this account start processes without a network. */
export const hasNamespaces = (): Promise<boolean> =>
  new Promise((resolve) => {
    const [command, ...words] = WITHOUT_NETWORK
    execFile(command!, [...words, '/bin/sh', '-c', ':'], { timeout: PROBE_MS_MAX }, (error) => resolve(!error))
  })
