// The syntax trees of statements, as PostgreSQL's own parser returns them.
import { loadModule, parseSync } from 'libpg-query'

await loadModule()

/** A node of a tree: its only key is its type. */
export type Node = Record<string, Fields>
// oxlint-disable-next-line typescript/no-explicit-any -- each type of node has its own fields
export type Fields = any

/** The statement of a text that has one. Errors: those of the parser. */
export function parseStatement(text: string): Node {
  return parseSync(text).stmts![0]!.stmt as Node
}

/** Every statement of a file. */
export const parseFile = (text: string): Node[] => parseSync(text).stmts!.map(({ stmt }) => stmt as Node)

export const typeOf = (node: Node): string => Object.keys(node)[0]!

/** The nodes that a node contains directly, also within lists and fields that are not nodes. */
export function childrenOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap((item) => (isNode(item) ? [item] : childrenOf(item)))
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((field) => (isNode(field) ? [field] : childrenOf(field)))
}

/** The nodes of a tree from a node on, itself included. A branch ends at a node for which `isEnd` is true. */
export function listNodes(root: Node, isEnd: (node: Node) => boolean = () => false): Node[] {
  if (isEnd(root)) return [root]
  return [root, ...childrenOf(root[typeOf(root)]).flatMap((child) => listNodes(child, isEnd))]
}

function isNode(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const keys = Object.keys(value)
  return keys.length === 1 && /^[A-Z]/.test(keys[0]!)
}

/** The names of a dotted name, as a column or a function has them. */
export const namesIn = (parts: Node[] = []): string[] =>
  parts.map(({ String: text }) => (text?.sval as string | undefined) ?? '*')
