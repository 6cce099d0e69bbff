// The command line: how it is spelled, and what the documents say of it.
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { parse, PROGRAM, UsageError, walk, type Group, type Leaf } from '../../src/cli/command-tree.ts'
import { tree } from '../../src/cli/command-list.ts'
import { runToEnd } from '../support/local-command.ts'
import { stopAll, folder, root, start } from '../support/program.ts'

after(stopAll)

const OTHERS = /^(node_modules|\.git|data)(\/|$)/
const texts = globSync('**/*', { exclude: (name) => OTHERS.test(name) })
  .concat(globSync('.github/**/*'))
  .filter((file) => statSync(file).isFile() && !/\.(pdf|png|gz|zip|br|ttf|otf|woff2?)$/.test(file))

test('no text names a command that outside this folder runs an unrelated package', () => {
  assert.ok(texts.includes('README.md') && texts.includes('docs/OPERATING.md') && texts.includes('src/cli/main.ts'))
  const foreign = new RegExp(['npx', 'drawbridge'].join('[ \\u00a0]+') + '\\b', 'i')
  assert.deepEqual(
    texts.filter((file) => foreign.test(readFileSync(file, 'utf8'))),
    [],
  )
})

test('the package cannot be published, and its name has a scope', () => {
  const { name, private: isPrivate } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string; private: boolean }
  assert.match(name, /^@[a-z-]+\/drawbridge$/)
  assert.equal(isPrivate, true)
})

/** The files that a file loads with itself: not what it imports when that is needed, and not what it takes types of alone. */
function loadedWith(file: string, loadedFiles = new Set<string>()): Set<string> {
  if (loadedFiles.has(file)) return loadedFiles
  loadedFiles.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, from] of text.matchAll(/^(?:import|export) (?:\{[^}]*\}|\* as \w+) from '(\.[^']+\.ts)'/gm))
    loadedWith(join(dirname(file), from!), loadedFiles)
  return loadedFiles
}

test('a command on the database loads no server, and parsing, help and commands on a running server load no database', () => {
  const [command, parsing] = [loadedWith('src/cli/administer.ts'), loadedWith('src/cli/main.ts')]
  assert.ok(command.has('src/platform/db/database.ts') && parsing.has('src/cli/command-tree.ts'))
  for (const file of ['src/app/server.ts', 'src/app/modules.ts', 'src/platform/http/server.ts'])
    assert.ok(!command.has(file), file)
  assert.ok(!parsing.has('src/platform/db/database.ts'))
  for (const client of ['events', 'listen', 'status', 'trigger']) {
    const files = loadedWith(`src/cli/client/${client}.ts`)
    for (const file of ['src/app/modules.ts', 'src/platform/db/database.ts']) assert.ok(!files.has(file), `${client} ${file}`)
  }
})

const nodes = [...walk(tree)].filter(({ path }) => path.length)
const isLeaf = (node: Leaf | Group): node is Leaf => !('commands' in node)
const leaves = nodes.flatMap(({ path, node }) => (isLeaf(node) ? [{ path, leaf: node }] : []))
/** Words that stand for the arguments which a command needs. */
const argumentsOf = ({ usage }: Leaf): string[] => usage.split(' ').filter((word) => word.startsWith('<'))

test('every command and group has help that shows its usage, and every command is described with examples that it takes', () => {
  assert.ok(leaves.length > 50)
  for (const { path, node } of nodes)
    for (const words of [
      [...path, '--help'],
      [...path, '-h'],
      ['help', ...path],
    ]) {
      // The program's own help goes one level deep.
      if (words[0] === 'help' && path.length > 1) continue
      const parsed = parse(tree, words)
      assert.ok('help' in parsed, words.join(' '))
      assert.ok(parsed.help.startsWith(`Usage: ${PROGRAM} ${path.join(' ')} `), parsed.help)
      assert.ok(parsed.help.toLowerCase().includes(node.summary.toLowerCase()), parsed.help)
    }
  for (const { path, leaf } of leaves) {
    assert.ok(leaf.run ?? leaf.onCells, path.join(' '))
    assert.ok(leaf.examples.length, path.join(' '))
    for (const example of leaf.examples) assert.deepEqual(pathOf(example), path, example)
  }
})

test('every command rejects an unknown option and an extra argument, and requires its arguments', () => {
  const refuses = (words: string[], reason: RegExp) =>
    assert.throws(
      () => parse(tree, words),
      (error) => error instanceof UsageError && reason.test(error.message) && !error.message.includes('\n'),
      words.join(' '),
    )
  for (const { path, leaf } of leaves) {
    const needed = argumentsOf(leaf)
    const all = leaf.usage.split(' ').slice(1)
    refuses([...path, ...needed, '--no-such-option'], /Unknown option '--no-such-option'/)
    refuses([...path, '--no-such-option=1', ...needed], /Unknown option '--no-such-option/)
    if (!leaf.usage.includes('...')) refuses([...path, ...all, 'more'], /Too many arguments/)
    if (needed.length) refuses([...path, ...needed.slice(1)], /Missing required argument/)
    const valued = leaf.options?.find(([flags]) => flags.includes('<'))
    if (valued) refuses([...path, ...needed, valued[0].split(' ')[0]!], /argument missing/)
  }
  for (const { path, node } of nodes)
    if (!isLeaf(node)) {
      assert.deepEqual(parse(tree, path), parse(tree, [...path, '--help']))
      refuses([...path, 'no-such-command'], /Unknown command 'no-such-command'/)
    }
  refuses(['no-such-command', '--help'], /Unknown command/)
})

test('a usage error names the help of its command, and commands are listed by tasks', async () => {
  const wrong = await runToEnd(['events', 'list', '--limit', '0'])
  assert.deepEqual(wrong, {
    code: 2,
    stdout: '',
    err: 'drawbridge: --limit must be a number from 1 to 1000. See "bin/drawbridge events list --help".\n',
  })
  const missing = await runToEnd(['team', 'create'])
  assert.equal(missing.err, `drawbridge: Missing required argument 'name'. See "bin/drawbridge team create --help".\n`)
  const group = await runToEnd(['team', 'destroy'])
  assert.equal(group.err, `drawbridge: Unknown command 'destroy'. See "bin/drawbridge team --help".\n`)
  assert.deepEqual(await runToEnd(['team']), await runToEnd(['team', '--help']))
  const { stdout } = await runToEnd(['help'])
  const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  assert.deepEqual(headings, [
    'Options',
    'Run a server',
    'Try and test a program',
    'Organizations, teams and keys',
    'Laboratories and their results',
    'Directories',
    'Operate',
    'Look things up',
  ])
  for (const { path } of nodes.filter((node) => node.path.length === 1)) assert.ok(stdout.includes(`\n  ${path[0]} `), path[0])
})

test('options are read: the last of one, all of one that may be given often, and values that begin with a dash', () => {
  const parsed = parse(tree, 'lab-account update ID --cell a --cell b --unit x --unit y --notes -1'.split(' '))
  assert.ok('leaf' in parsed)
  assert.deepEqual(
    [parsed.path, parsed.input],
    [['lab-account', 'update'], { args: ['ID'], values: { cell: 'b', unit: ['x', 'y'], notes: '-1' } }],
  )
})

/** The words of the command that a line of a shell calls: without its comment, and without where its output goes. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/\s+#.*$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, plain]) => double ?? single ?? plain!)
    .reduce<string[]>((words, word) => (words.at(-1) === '>' ? words : [...words, word]), [])
    .filter((word) => word !== '>')

/** The command that a line means. @throws UsageError where there is none, or it does not take what is on the line */
function pathOf(line: string): string[] {
  const parsed = parse(tree, wordsOf(line))
  return 'help' in parsed ? ['help'] : parsed.path
}

test('the documents name only commands and options that exist', () => {
  let count = 0
  for (const file of texts.filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')) {
    const text = readFileSync(file, 'utf8')
    for (const [, block] of text.matchAll(/^```\w*\n(.*?)^```/gms))
      for (const line of block!.replaceAll(/\\\n\s*/g, '').split('\n')) {
        const [, typed] = /(?:^|[|&;(] *)bin\/drawbridge +(.*)$/.exec(line) ?? []
        if (typed === undefined) continue
        count++
        assert.doesNotThrow(() => pathOf(typed), `${file}: ${line}`)
      }
    // In running text a command may stand without its arguments, or with two verbs: "confirm|refuse".
    for (const [, typed] of text.matchAll(/`bin\/drawbridge ([^`]+)`/g)) {
      if (/^(<|help$)/.test(typed!)) continue
      count++
      const words = wordsOf(typed!)
      const known = (position: number): boolean =>
        nodes.some(
          ({ path, node }) =>
            path.join(' ') === words.slice(0, position).join(' ') &&
            (isLeaf(node) || position === words.length || known(position + 1)),
        )
      assert.ok(known(1), `${file}: ${typed}`)
      const options = leaves
        .filter(({ path }) => path.every((word, i) => word === words[i]))
        .flatMap(({ leaf }) => leaf.options ?? [])
      for (const word of words.filter((option) => option.startsWith('--')))
        assert.ok(word === '--help' || options.some(([flags]) => flags.split(' ')[0] === word.split('=')[0]), `${file}: ${typed}`)
    }
  }
  assert.ok(count > 60, `${count} commands were found`)
})

test('processes in an empty folder: help and the version do nothing, wrong words end with 2, and only start makes a database', async () => {
  const cwd = folder('empty')
  mkdirSync(cwd)
  const run = async (...args: string[]) => {
    const { stdout, err, exitStatus } = start({
      program: join(root, 'bin/drawbridge'),
      args,
      cwd,
      settings: { LOG_LEVEL: 'silent', PORT: '0' },
    })
    return { code: await exitStatus, stdout: stdout(), err: err() }
  }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  assert.deepEqual(await run('version'), { code: 0, stdout: `${version}\n`, err: '' })
  const [help, started, wrong, surplus] = [
    await run('migrate', '--help'),
    await run('start', '--help'),
    await run('start', '--ports=1'),
    await run('serve', 'now'),
  ]
  assert.deepEqual([help.code, help.err, started.code, started.err], [0, '', 0, ''])
  assert.match(help.stdout, /^Usage: bin\/drawbridge migrate \[options\]\n/)
  assert.match(started.stdout, /^Usage: bin\/drawbridge start \[options\]\n/)
  const see = 'See "bin/drawbridge start --help".\n'
  assert.match(wrong.err, /^drawbridge: Unknown option '--ports' \(Did you mean --port\?\)\. /)
  assert.deepEqual([wrong.code, wrong.stdout, wrong.err.endsWith(see)], [2, '', true])
  assert.deepEqual([surplus.code, surplus.stdout], [2, ''])
  assert.match(surplus.err, /^drawbridge: Too many arguments for 'serve'\..*now\..*\n$/)
  for (const words of [['org', 'create', 'Fictional Clinic'], ['serve'], ['work'], ['migrate']]) {
    const { code, stdout, err } = await run(...words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.ok(err.startsWith(`drawbridge: There is no database in ${join(cwd, 'data')}. "bin/drawbridge start" makes one`), err)
  }
  assert.deepEqual(readdirSync(cwd), [])
  assert.ok(!existsSync(join(cwd, 'data')))
})
