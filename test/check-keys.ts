// Checks the keys of object literals where the compiler does not look for keys that no type declares: in literals that are spread into
// another one, and in variables without a type. A renamed optional field stays behind there unseen. `npm run check` runs it.
import { join, resolve } from 'node:path'
import { findNodes } from './support/syntax-tree.ts'
import ts from './support/typescript-5.ts'
import { ALLOWED_KEYS } from './source-rules.ts'

const { TypeFlags } = ts
/** Types of values without keys of their own. */
const WITHOUT_KEYS =
  TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Void | TypeFlags.BooleanLike | TypeFlags.StringLike | TypeFlags.NumberLike
/** Types that accept every key, or whose keys depend on the place. */
const WITH_ANY_KEY =
  TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never | TypeFlags.TypeParameter | TypeFlags.Instantiable | TypeFlags.NonPrimitive

const program = openProgram()
const checker = program.getTypeChecker()
const problems = new Set<string>()
const usedExceptions = new Set<string>()
let keyCount = 0

for (const source of program.getSourceFiles()) if (source.fileName.startsWith(resolve('src'))) checkSource(source)
if (keyCount < 5000) problems.add(`only ${keyCount} keys are checked: the types of the language are missing`)
for (const exception of Object.keys(ALLOWED_KEYS))
  if (!usedExceptions.has(exception)) problems.add(`test/source-rules.ts: no exception is needed for ${exception}`)
for (const problem of problems) console.error(problem)
if (problems.size) process.exitCode = 1

/** The program, with the types of the language from TypeScript 7: the package of TypeScript 5 has none. */
function openProgram(): ts.Program {
  const library = resolve(`node_modules/@typescript/typescript-${process.platform}-${process.arch}/lib`)
  const { config } = ts.readConfigFile('tsconfig.json', (file) => ts.sys.readFile(file)) as { config: object }
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, process.cwd())
  const host = ts.createCompilerHost(options)
  host.getDefaultLibFileName = (settings) => join(library, ts.getDefaultLibFileName(settings))
  host.getDefaultLibLocation = () => library
  const files = fileNames.filter((file) => !file.endsWith('.test.ts'))
  return ts.createProgram(files, options, host)
}

function checkSource(source: ts.SourceFile): void {
  for (const literal of findNodes(source, ts.isObjectLiteralExpression))
    if (!ts.isSpreadAssignment(literal.parent)) report(literal, keysOf(checker.getContextualType(literal)))
  const uses = Map.groupBy(findNodes(source, ts.isIdentifier), variableOf)
  uses.delete(undefined)
  for (const [variable, identifiers] of uses) {
    const keys = identifiers.map(keysOfUse)
    // One use that accepts every key is enough.
    const names = keys.includes(undefined) ? undefined : new Set(keys.flatMap((keySet) => [...keySet!]))
    for (const literal of literalsIn(variable!.initializer!)) report(literal, names)
  }
}

function report(literal: ts.ObjectLiteralExpression, names: Set<string> | undefined): void {
  const source = literal.getSourceFile()
  for (const key of names ? writtenKeys(literal) : []) {
    keyCount++
    if (names!.has(key.text)) continue
    const exception = `${source.fileName.slice(resolve('.').length + 1)} ${key.text}`
    const line = source.getLineAndCharacterOfPosition(key.getStart(source)).line + 1
    if (exception in ALLOWED_KEYS) usedExceptions.add(exception)
    else problems.add(`${exception}: line ${line} has a key that no type declares; declared: ${[...names!].join(', ')}`)
  }
}

/** The variable that an identifier reads, if its value is an object literal, and neither a type nor another file says what it is. */
function variableOf(node: ts.Identifier): ts.VariableDeclaration | undefined {
  const symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node)
  const variable = symbol?.valueDeclaration
  if (!variable || !ts.isVariableDeclaration(variable) || variable.type || !variable.initializer) return undefined
  const isExported = (ts.getCombinedModifierFlags(variable) & ts.ModifierFlags.Export) !== 0
  return !isExported && variable.name !== node && literalsIn(variable.initializer).length ? variable : undefined
}

/** The keys that one use of a variable reads or accepts; undefined if it accepts all. */
function keysOfUse(node: ts.Identifier): Set<string> | undefined {
  if (ts.isPropertyAccessExpression(node.parent)) return new Set([node.parent.name.text])
  return ts.isSpreadAssignment(node.parent) ? undefined : keysOf(checker.getContextualType(node))
}

/** The keys of a type; undefined if it accepts all. */
function keysOf(type: ts.Type | undefined): Set<string> | undefined {
  if (!type || acceptsAll(type)) return undefined
  const types = type.isUnion() ? type.types : [type]
  return new Set(types.flatMap((part) => checker.getPropertiesOfType(checker.getApparentType(part)).map(({ name }) => name)))
}

function acceptsAll(type: ts.Type): boolean {
  if (type.flags & WITH_ANY_KEY) return true
  if (type.isUnion()) return type.types.some((part) => !(part.flags & WITHOUT_KEYS) && acceptsAll(part))
  if (type.isIntersection()) return type.types.some(acceptsAll)
  return checker.getIndexInfosOfType(type).length > 0 || checker.getPropertiesOfType(type).length === 0
}

/** The object literals that are the value of an expression. */
function literalsIn(node: ts.Expression): ts.ObjectLiteralExpression[] {
  if (ts.isObjectLiteralExpression(node)) return [node]
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return literalsIn(node.expression)
  if (ts.isConditionalExpression(node)) return [...literalsIn(node.whenTrue), ...literalsIn(node.whenFalse)]
  return ts.isBinaryExpression(node) ? literalsIn(node.right) : []
}

/** The keys of a literal, and of literals that are spread into it. */
function writtenKeys(literal: ts.ObjectLiteralExpression): ts.Identifier[] {
  return literal.properties.flatMap((property) => {
    if (ts.isSpreadAssignment(property)) return literalsIn(property.expression).flatMap(writtenKeys)
    return property.name && ts.isIdentifier(property.name) ? [property.name] : []
  })
}
