// Syntax trees of the sources, for the checks of the repository.
import { readFileSync } from 'node:fs'
import ts from './typescript-5.ts'

export const parseSource = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

/** Every node of a kind within another one. */
export function findNodes<N extends ts.Node>(root: ts.Node, isOfKind: (node: ts.Node) => node is N): N[] {
  const nodes: N[] = []
  const visit = (node: ts.Node): void => {
    if (isOfKind(node)) nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(root)
  return nodes
}

/** The calls of a function, by the text of its expression. */
export const findCalls = (root: ts.SourceFile, name: string): ts.CallExpression[] =>
  findNodes(root, ts.isCallExpression).filter(({ expression }) => expression.getText(root) === name)

/** The SQL of a source: the text of each template with its expressions, in which other templates of SQL are left out. */
export const sqlOf = (source: ts.SourceFile): string[] =>
  findNodes(source, ts.isTaggedTemplateExpression)
    .filter(({ tag }) => tag.getText(source) === 'sql')
    .map(({ template }) => {
      const inner = findNodes(template, ts.isTaggedTemplateExpression).map((node) => node.getText(source))
      return inner.reduce((text, part) => text.replace(part, ''), template.getText(source).slice(1, -1))
    })

/** The modules that a source imports: also for types alone, and when it runs. */
export const importsIn = (text: string): string[] => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName)

/** The source without its comments. */
export const codeOf = (source: ts.SourceFile): string => ts.createPrinter({ removeComments: true }).printFile(source)
