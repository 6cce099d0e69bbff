// Dockerfile and compose files as a container engine reads them, as far as the tests need that: there is no engine here. The folder of an
// image is laid out by its COPY instructions, and its processes are started by its ENTRYPOINT, CMD and ENV.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { DockerfileParser, type Copy, type Dockerfile, type Instruction } from 'dockerfile-ast'
import { parse } from 'yaml'
import { folder, root, start, type ServerProcess } from './program.ts'

export const dockerfileText = readFileSync(join(root, 'Dockerfile'), 'utf8')
const dockerfile: Dockerfile = DockerfileParser.parse(dockerfileText)

/** The instructions of the last stage. */
const lastStage: Instruction[] = (() => {
  const all = dockerfile.getInstructions()
  return all.slice(all.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'))
})()
const instructionsOf = (keyword: string) => lastStage.filter((instruction) => instruction.getKeyword() === keyword)

/** The words of an instruction in its JSON form, after its flags. */
const words = (instruction: Instruction): string[] => {
  const text = instruction.getRawArgumentsContent() ?? ''
  return JSON.parse(text.slice(text.indexOf('['))) as string[]
}
const onlyInstruction = (keyword: string): Instruction => {
  const found = instructionsOf(keyword)
  if (found.length !== 1) throw new Error(`Dockerfile has ${found.length} ${keyword}`)
  return found[0]!
}

/** The instructions of the image that say how it is started. */
export const image = {
  entrypoint: words(onlyInstruction('ENTRYPOINT')),
  command: words(onlyInstruction('CMD')),
  healthcheck: words(onlyInstruction('HEALTHCHECK')),
  user: onlyInstruction('USER').getArguments().map(String).join(' '),
  volumes: words(onlyInstruction('VOLUME')),
  ports: onlyInstruction('EXPOSE').getArguments().map(String),
  environment: Object.fromEntries(
    instructionsOf('ENV').flatMap((instruction) =>
      instruction.getArguments().map((argument) => {
        const [name, ...value] = argument.getValue().split('=')
        return [name!, value.join('=')]
      }),
    ),
  ),
  /** Files that the stages copy from the folder of the build, `.` left out. */
  copied: dockerfile
    .getCOPYs()
    .filter((copy) => copy.getFromFlag() === null)
    .flatMap(sources),
}

function sources(copy: Copy): string[] {
  return copy
    .getArguments()
    .map((argument) => argument.getValue())
    .slice(0, -1)
}

/** The folder `/` of the image: what the last stage copies, from a folder in which the first stage has been made. */
export function layOut(packageFolder: string): string {
  const at = folder('image')
  const workdir = onlyInstruction('WORKDIR').getArguments()[0]!.getValue()
  for (const copy of dockerfile.getCOPYs().filter((instruction) => lastStage.includes(instruction))) {
    const target = copy.getArguments().at(-1)!.getValue()
    for (const source of sources(copy)) {
      const from = join(packageFolder, source.replace(/^\/app\//, ''))
      const to = join(at, workdir, target, target === './' ? basename(source) : '')
      mkdirSync(dirname(to), { recursive: true })
      if (basename(from) === 'node_modules') symlinkSync(from, to)
      else cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    }
  }
  return at
}

/** What the build stage makes, without its installation: the packages are those of this checkout. */
export function build(): string {
  const at = folder('image-build')
  for (const name of image.copied.filter((copiedName) => existsSync(join(root, copiedName))))
    cpSync(join(root, name), join(at, name), { recursive: true, verbatimSymlinks: true })
  // Before there are packages, so that none for development is needed.
  const [, command = ''] = /RUN node (scripts\/build-package\.ts[^\\\n]*)/.exec(dockerfileText)!
  const { status, stderr } = spawnSync(process.execPath, command.trim().split(' '), { cwd: at, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  symlinkSync(join(root, 'node_modules'), join(at, 'node_modules'))
  return at
}

export interface Container {
  command?: string[]
  environment: Record<string, string>
}

/** The variables of a container, and its own ones. */
const variables = ({ environment }: Container, of_test: Record<string, string>) => ({
  ...image.environment,
  ...environment,
  ...of_test,
})

/** Starts what a container of the image would start, in the folder of the image. */
export function startContainer(folder: string, container: Container, of_test: Record<string, string>): ServerProcess {
  const [program, ...args] = [...image.entrypoint, ...(container.command ?? image.command)]
  if (program !== 'node') throw new Error(`ENTRYPOINT starts ${program}`)
  return start({
    args: args.map((word) => (word.startsWith('/') ? join(folder, word) : word)),
    settings: variables(container, of_test),
    cwd: join(folder, 'app'),
  })
}

/** Runs HEALTHCHECK in that container. → its exit code and what it said */
export function checkHealth(folder: string, container: Container, of_test: Record<string, string>) {
  const [program, ...args] = image.healthcheck
  if (program !== 'node') throw new Error(`HEALTHCHECK starts ${program}`)
  const { status, stderr } = spawnSync(
    process.execPath,
    args.map((word) => join(folder, word)),
    { env: { ...process.env, ...variables(container, of_test) }, encoding: 'utf8' },
  )
  return { status, said: stderr }
}

interface ComposeService {
  image?: string
  command?: string[]
  environment?: Record<string, string>
  networks?: string[]
  depends_on?: Record<string, { condition: string }>
  deploy?: { replicas: number }
  volumes?: string[]
  ports?: string[]
  restart?: string
  read_only?: boolean
}
export interface Compose {
  name: string
  services: Record<string, ComposeService>
  networks?: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>
}

/** A compose file, with `${NAME:-default}` and `${NAME:?why}` replaced. Errors: a variable that has no default and no value. */
export function readCompose(path: string, values: Record<string, string> = {}): Compose {
  const replaced = (text: string) =>
    text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
      const value = values[name] || (kind === '-' ? rest : undefined)
      if (value === undefined) throw new Error(`${name} is not set: ${rest}`)
      return value
    })
  return parse(
    readFileSync(join(root, path), 'utf8'),
    (_key, value: unknown) => (typeof value === 'string' ? replaced(value) : value),
    {
      merge: true,
    },
  ) as Compose
}
