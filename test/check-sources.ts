// Checks the syntax trees of the sources: names of declarations, names that are defined too often, and lengths of functions; and the names
// of files. The rules and the exceptions are in test/source-rules.ts. `npm run check` runs it.
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { parseSource, sqlOf } from './support/syntax-tree.ts'
import ts from './support/typescript-5.ts'
import {
  ALLOWED_LENGTHS,
  ALLOWED_NAMES,
  CHECKED_TESTS,
  DEFINITIONS_MAX,
  FUNCTION_LINES_MAX,
  isFunctionWord,
  isParticiple,
  PARTS_OF_MODULES,
  SAME_FILE_NAMES_MAX,
} from './source-rules.ts'

const problems: string[] = []
const usedExceptions = new Set<string>()
/** Name → the files that define it at the top level. */
const definitions = new Map<string, string[]>()
const longFunctions = new Map<string, number>()
const isIn = (folders: readonly string[], file: string): boolean => folders.some((folder) => file.startsWith(`${folder}/`))

for (const file of globSync('{src,test,bench,eval,scripts,console}/**/*.{ts,tsx}', { exclude: ['console/dist*/**'] }).sort()) {
  if (file.endsWith('.d.ts')) continue
  const source = parseSource(file)
  const isProgram = isIn(['src', 'console'], file) && !file.endsWith('.test.ts')
  if (isProgram && file.startsWith('src/')) collectDefinitions(source)
  checkNode(source, source, { names: isProgram || isIn(CHECKED_TESTS, file), lengths: isProgram })
}
for (const [name, files] of definitions)
  if (files.length > DEFINITIONS_MAX)
    problems.push(`${name} has ${files.length} top-level definitions, more than ${DEFINITIONS_MAX}: ${files.join(', ')}`)
for (const [name, files] of Map.groupBy(globSync('src/**/*.*'), (file) => basename(file)))
  if (files.length > SAME_FILE_NAMES_MAX && !PARTS_OF_MODULES.includes(name))
    problems.push(`${files.length} files have the name ${name}, more than ${SAME_FILE_NAMES_MAX}: ${files.join(', ')}`)
for (const exception of [...Object.keys(ALLOWED_NAMES), ...Object.keys(ALLOWED_LENGTHS)])
  if (!usedExceptions.has(exception)) problems.push(`test/source-rules.ts: no exception is needed for ${exception}`)

if (process.argv.includes('--lengths')) for (const [name, lines] of longFunctions) console.log(lines, name)
for (const problem of problems) console.error(problem)
if (problems.length) process.exitCode = 1

function checkNode(node: ts.Node, source: ts.SourceFile, checks: { names: boolean; lengths: boolean }): void {
  if (checks.names) checkName(node, source)
  if (checks.lengths && ts.isFunctionLike(node)) checkLength(node, source)
  ts.forEachChild(node, (child) => checkNode(child, source, checks))
}

/** The name of a function, field or parameter must not be a participle, a preposition or a pronoun; one with …Of converts its argument. */
function checkName(node: ts.Node, source: ts.SourceFile): void {
  const name = declaredName(node, source)
  if (!name || isForeignField(node)) return
  const fault = faultInName(name.text, node, source)
  if (!fault) return
  const exception = `${source.fileName} ${name.text}`
  if (exception in ALLOWED_NAMES) usedExceptions.add(exception)
  else problems.push(`${place(name, source)}: ${name.text} ${fault}`)
}

function faultInName(name: string, node: ts.Node, source: ts.SourceFile): string | undefined {
  if (isFunctionWord(name)) return isColumn(name, node, source) ? undefined : 'is a preposition, a pronoun or an adverb'
  if (isParticiple(name)) return isColumn(name, node, source) || isBoolean(node) ? undefined : 'is a participle'
  const count = parameterCount(node)
  if (/[a-z](Of|Than)$/.test(name) && count !== undefined && count !== 1)
    return `has ${count} parameters; …Of converts its only argument`
  return undefined
}

/** The name that a node declares, if the rules apply to it. */
function declaredName(node: ts.Node, source: ts.SourceFile): ts.Identifier | undefined {
  if (ts.isVariableDeclaration(node)) {
    const statement = node.parent.parent
    if (statement.parent !== source || !ts.isVariableStatement(statement)) return undefined
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    return (isExported || isFunction(node.initializer)) && ts.isIdentifier(node.name) ? node.name : undefined
  }
  const isTopLevelFunction = ts.isFunctionDeclaration(node) && node.parent === source
  const isMember =
    ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node)
  if (isTopLevelFunction || isMember || ts.isParameter(node))
    return node.name && ts.isIdentifier(node.name) && node.name.text !== 'this' ? node.name : undefined
  return undefined
}

function isFunction(node: ts.Node | undefined): node is ts.ArrowFunction | ts.FunctionExpression {
  return node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
}

/** The number of parameters of a declared function; undefined for another declaration. */
function parameterCount(node: ts.Node): number | undefined {
  if (ts.isVariableDeclaration(node)) return isFunction(node.initializer) ? node.initializer.parameters.length : undefined
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) return node.parameters.length
  if (ts.isPropertySignature(node) || ts.isParameter(node))
    return node.type && ts.isFunctionTypeNode(node.type) ? node.type.parameters.length : undefined
  return undefined
}

/** Whether a field is in a type assertion or a type argument, which describe data that has its names from elsewhere. */
function isForeignField(node: ts.Node): boolean {
  if (!ts.isPropertySignature(node)) return false
  let type: ts.Node = node
  while (ts.isTypeNode(type.parent) || ts.isPropertySignature(type.parent)) type = type.parent
  return ts.isAsExpression(type.parent) || ts.isCallExpression(type.parent)
}

function isBoolean(node: ts.Node): boolean {
  const isTyped = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isParameter(node)
  return isTyped && node.type?.kind === ts.SyntaxKind.BooleanKeyword
}

/** Whether a field is named like a column of a statement in the same file. */
function isColumn(name: string, node: ts.Node, source: ts.SourceFile): boolean {
  const statements = ts.isPropertySignature(node) ? sqlOf(source) : []
  return statements.some((statement) => new RegExp(`\\b${name}\\b`).test(statement.replace(/\$\{[^}]*\}/g, ' ')))
}

function collectDefinitions(source: ts.SourceFile): void {
  const add = (name: ts.Node | undefined): void => {
    if (!name || !ts.isIdentifier(name) || !/^[a-z]+$/.test(name.text)) return
    definitions.set(name.text, [...(definitions.get(name.text) ?? []), source.fileName])
  }
  for (const statement of source.statements)
    if (ts.isVariableStatement(statement)) for (const { name } of statement.declarationList.declarations) add(name)
    else if (ts.isFunctionDeclaration(statement)) add(statement.name)
}

/** A function is short. SQL, lists of operations and tables of data are not counted. */
function checkLength(node: ts.SignatureDeclaration, source: ts.SourceFile): void {
  const body = 'body' in node ? (node.body as ts.Node | undefined) : undefined
  if (!body) return
  const lines = lineCount(node, source) - uncountedLines(body, source)
  if (lines <= FUNCTION_LINES_MAX) return
  const name = functionName(node, source)
  const exception = `${source.fileName} ${name}`
  longFunctions.set(exception, lines)
  if (exception in ALLOWED_LENGTHS) usedExceptions.add(exception)
  else problems.push(`${place(node, source)}: ${name} has ${lines} lines, more than ${FUNCTION_LINES_MAX}`)
}

function lineCount(node: ts.Node, source: ts.SourceFile): number {
  return (
    source.getLineAndCharacterOfPosition(node.end).line - source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
  )
}

/** Lines of SQL, of data, and of lists of operations: array or object literals without functions, and arrays of objects. */
function uncountedLines(body: ts.Node, source: ts.SourceFile): number {
  let lines = 0
  const visit = (node: ts.Node): void => {
    const isSql = ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)
    const isList = ts.isArrayLiteralExpression(node) && node.elements.some(isOperation)
    if (isSql || isList) lines += lineCount(node, source) - 1
    else ts.forEachChild(node, visit)
  }
  visit(body)
  return lines
}

/** An operation of the API, or a row of a table of data. */
function isOperation(node: ts.Node): boolean {
  if (ts.isObjectLiteralExpression(node)) return true
  return ts.isCallExpression(node) && node.arguments.some((argument) => ts.isObjectLiteralExpression(argument))
}

function functionName(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  if (node.name) return node.name.getText(source)
  const parent = node.parent
  return (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && ts.isIdentifier(parent.name)
    ? parent.name.text
    : 'a function'
}

function place(node: ts.Node, source: ts.SourceFile): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`
}
