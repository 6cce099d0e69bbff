// Which tables of a statement are restricted to one team. A table is when its `team_id` equals a value, or the `team_id` of another such table
// of the same query: Citus then sends the statement to one node. PostgreSQL derives the condition of an inner query from that of the outer
// one only for an `exists` that is a condition by itself; any other inner query has to name the team by itself.
import { childrenOf, namesIn, listNodes, typeOf, type Fields, type Node } from './syntax.ts'

/** `managed`: a table on one node with a foreign key to a reference table. Citus plans the statements on it. */
export type TableKind = 'distributed' | 'reference' | 'local' | 'managed'

/** A table in a statement. */
export interface Relation {
  alias: string
  table: string
  kind: TableKind
  /** In the text of the statement, in bytes. */
  location: number
  /** Only for distributed tables. */
  isOfOneTeam: boolean
  /** Whether its rows are on the node of the rows that they are joined with: by `team_id`. Only for distributed tables. */
  isJoined: boolean
}

/** A `select`, or another statement, with the tables that it names itself. */
export interface Query {
  node: Node
  relations: Relation[]
  queries: Query[]
  /** Whether its conditions name tables of the outer query. */
  isCorrelated: boolean
}

/** The tables that the expressions of a query can name. CTEs, functions and subqueries are there without a table. */
interface Scope {
  relations: Map<string, Relation | undefined>
  outer: Scope | undefined
  /** Whether PostgreSQL derives conditions of this query from those of the outer one. */
  derives: boolean
}

/** That the teams of two tables are equal, or that of a table and a value. After an outer join only the end is restricted by the start. */
interface Link {
  start: string
  end: string
  isOneWay: boolean
}
const VALUE = ' value'
const OUTER = ' outer'

interface QueryContext {
  kinds: ReadonlyMap<string, TableKind>
  ctes: ReadonlySet<string>
  outer?: Scope
  derives?: boolean
}

/** A statement with its inner queries. */
export function readQuery(node: Node, { kinds, ctes, outer, derives = false }: QueryContext): Query {
  const fields = node[typeOf(node)] as Fields
  const names = new Set(ctes)
  const queries: Query[] = []
  for (const { CommonTableExpr: cte } of (fields.withClause?.ctes ?? []) as Node[]) {
    if (fields.withClause.recursive) names.add(cte.ctename as string)
    queries.push(readQuery(cte.ctequery as Node, { kinds, ctes: names }))
    names.add(cte.ctename as string)
  }
  const reader = new QueryReader({ kinds, ctes: names }, { relations: new Map(), outer, derives }, queries)
  if (fields.larg) reader.readUnion(fields)
  else if ('InsertStmt' in node) reader.readInsert(fields)
  else reader.readTables(fields)
  return { node, relations: reader.relations, queries, isCorrelated: reader.isCorrelated }
}

class QueryReader {
  readonly #context: QueryContext
  readonly #scope: Scope
  readonly #queries: Query[]
  readonly #links: Link[] = []
  /** Those that are all true. */
  readonly #conditions: Node[] = []
  readonly #subqueries: { node: Node; isLateral: boolean }[] = []
  isCorrelated = false

  constructor(context: QueryContext, scope: Scope, queries: Query[]) {
    this.#context = context
    this.#scope = scope
    this.#queries = queries
  }

  get relations(): Relation[] {
    return [...this.#scope.relations.values()].filter((relation) => relation !== undefined)
  }

  readUnion({ larg, rarg }: Fields): void {
    const { outer, derives } = this.#scope
    for (const SelectStmt of [larg, rarg])
      this.#queries.push(readQuery({ SelectStmt }, { ...this.#context, ...(outer && { outer, derives }) }))
  }

  readInsert({ withClause: _ctes, relation, selectStmt, cols = [], ...rest }: Fields): void {
    const target = this.#add(relation)
    const values = selectStmt?.SelectStmt.valuesLists as Node[] | undefined
    const position = (cols as Node[]).findIndex(({ ResTarget }) => ResTarget!.name === 'team_id')
    if (values) {
      target.isOfOneTeam = values.every(({ List }) => isValue(List!.items[position] as Node))
      this.#readInner(childrenOf(values))
    } else if (selectStmt) {
      const source = readQuery(selectStmt as Node, this.#context)
      this.#queries.push(source)
      target.isOfOneTeam = listParts(source).every((part) => {
        const column = (part.node.SelectStmt!.targetList as Node[] | undefined)?.[position]?.ResTarget!.val as Node | undefined
        return isValue(column) || isRestrictedColumn(column, part) || this.#isColumnOfCte(column, part)
      })
    }
    target.isJoined = true
    this.#readInner(childrenOf(rest))
  }

  /** Whether a column is the `team_id` of a CTE, and all CTEs are of one team. */
  #isColumnOfCte(column: Node | undefined, source: Query): boolean {
    if (namesIn(column?.ColumnRef?.fields as Node[]).at(-1) !== 'team_id') return false
    const sources = (source.node.SelectStmt!.fromClause ?? []) as Node[]
    const tables = this.#queries.flatMap(listTables).filter(({ kind }) => kind === 'distributed')
    const isOfCte = sources.every(({ RangeVar }) => this.#context.ctes.has(RangeVar?.relname as string))
    return isOfCte && tables.length > 0 && tables.every(({ isOfOneTeam }) => isOfOneTeam)
  }

  readTables({ withClause: _ctes, relation, fromClause = [], usingClause = [], whereClause, ...rest }: Fields): void {
    if (relation) this.#add(relation)
    const sources = [...fromClause, ...usingClause] as Node[]
    for (const source of sources) this.#readSource(source)
    this.#conditions.push(...conjuncts(whereClause as Node))
    this.#links.push(...conjuncts(whereClause as Node).flatMap((condition) => this.#linksOf(condition)))
    this.#judge()
    for (const { node, isLateral } of this.#subqueries)
      this.#queries.push(readQuery(node, { ...this.#context, ...(isLateral && { outer: this.#scope }) }))
    const tests = this.#conditions.flatMap(existsIn)
    for (const test of tests)
      this.#queries.push(readQuery(test.SubLink!.subselect as Node, { ...this.#context, outer: this.#scope, derives: true }))
    const expressions = [...childrenOf(rest), ...sources.flatMap(expressionsOf), ...(whereClause ? [whereClause as Node] : [])]
    this.#readInner(expressions, tests)
  }

  /** Queries within expressions. */
  #readInner(expressions: Node[], exceptions: Node[] = []): void {
    const isEnd = (node: Node) => 'SubLink' in node || 'SelectStmt' in node
    for (const node of expressions.flatMap((expression) => listNodes(expression, isEnd))) {
      if (!('SubLink' in node) || exceptions.includes(node)) continue
      this.#queries.push(readQuery(node.SubLink!.subselect as Node, { ...this.#context, outer: this.#scope }))
      if (node.SubLink!.testexpr) this.#readInner([node.SubLink!.testexpr as Node], exceptions)
    }
  }

  /** Adds what an item of `from` names. @returns the aliases */
  #readSource(source: Node): string[] {
    if (source.JoinExpr) return this.#readJoin(source.JoinExpr)
    if (source.RangeVar) return [this.#add(source.RangeVar).alias]
    const { alias, subquery, lateral = false } = (source.RangeSubselect ?? source.RangeFunction ?? {}) as Fields
    const name = (alias?.aliasname as string | undefined) ?? ''
    this.#scope.relations.set(name, undefined)
    if (subquery) this.#subqueries.push({ node: subquery as Node, isLateral: lateral as boolean })
    return [name]
  }

  #readJoin({ larg, rarg, jointype, quals, usingClause }: Fields): string[] {
    const [left, right] = [this.#readSource(larg as Node), this.#readSource(rarg as Node)]
    const links = conjuncts(quals as Node).flatMap((condition) => this.#linksOf(condition))
    if (namesIn(usingClause as Node[]).includes('team_id'))
      links.push(...left.flatMap((start) => right.map((end) => ({ start, end, isOneWay: false }))))
    if (jointype === 'JOIN_INNER') {
      this.#conditions.push(...conjuncts(quals as Node))
      this.#links.push(...links)
    } else {
      const nullable = jointype === 'JOIN_LEFT' ? right : jointype === 'JOIN_RIGHT' ? left : []
      const turned = links.map(({ start, end }) => ({ start: end, end: start, isOneWay: true }))
      const oneWay = [...links.map((link) => ({ ...link, isOneWay: true })), ...turned]
      this.#links.push(...oneWay.filter(({ end }) => nullable.includes(end)))
    }
    return [...left, ...right]
  }

  #add(fields: Fields): Relation {
    const table = fields.relname as string
    const alias = (fields.alias?.aliasname as string | undefined) ?? table
    const kind = this.#context.kinds.get(table) ?? 'local'
    const relation = {
      alias,
      table,
      kind,
      location: (fields.location as number | undefined) ?? 0,
      isOfOneTeam: false,
      isJoined: false,
    }
    const isCte = this.#context.ctes.has(table) && fields.schemaname === undefined
    this.#scope.relations.set(alias, isCte ? undefined : relation)
    return relation
  }

  #judge(): void {
    const distributed = this.relations.filter(({ kind }) => kind === 'distributed')
    const ofOneTeam = reach(VALUE, this.#links)
    const [first] = distributed
    this.isCorrelated = isCorrelated(this.#conditions, this.#scope)
    const start = this.isCorrelated ? OUTER : first?.alias
    const links = this.#links.map((link) => ({ ...link, isOneWay: false }))
    const together = start === undefined ? new Set<string>() : reach(start, links)
    for (const relation of distributed) {
      relation.isOfOneTeam = ofOneTeam.has(relation.alias)
      relation.isJoined = together.has(relation.alias)
    }
  }

  #linksOf({ A_Expr: fields }: Node): Link[] {
    if (fields?.kind !== 'AEXPR_OP' || namesIn(fields.name as Node[])[0] !== '=' || !fields.lexpr) return []
    const [left, right] = [fields.lexpr as Node, fields.rexpr as Node]
    const pairs =
      left.RowExpr && right.RowExpr
        ? (left.RowExpr.args as Node[]).map((arg, i) => [arg, right.RowExpr!.args[i] as Node] as const)
        : [[left, right] as const]
    return pairs.flatMap((pair) => {
      const [start, end] = pair.map((node) => this.#endOf(node))
      return start !== undefined && end !== undefined ? [{ start, end, isOneWay: false }] : []
    })
  }

  /** A table, for its `team_id`; a value; or the outer query, for the `team_id` of one of its tables. */
  #endOf(node: Node): string | undefined {
    if (isValue(node)) return VALUE
    const [column, alias] = namesIn(node.ColumnRef?.fields as Node[]).toReversed()
    const { relations, outer, derives } = this.#scope
    if (column === 'id' && alias !== undefined && relations.get(alias)?.table === 'team') return alias
    if (column !== 'team_id') return undefined
    if (alias === undefined) return this.relations.find(({ kind }) => kind === 'distributed')?.alias
    if (relations.has(alias)) return alias
    const relation = outer && relationIn(outer, alias)
    return derives && relation?.isOfOneTeam ? VALUE : relation?.kind === 'distributed' ? OUTER : undefined
  }
}

/** The parts of a union. */
const listParts = (query: Query): Query[] => (query.node.SelectStmt!.larg ? query.queries.slice(-2).flatMap(listParts) : [query])

/** The tables of a query and of its inner queries. */
export const listTables = ({ relations, queries }: Query): Relation[] => [...relations, ...queries.flatMap(listTables)]

/** Whether a column of a source is the `team_id` of one of its tables that is restricted. */
function isRestrictedColumn(column: Node | undefined, { relations }: Query): boolean {
  const [name, alias] = namesIn(column?.ColumnRef?.fields as Node[]).toReversed()
  return name === 'team_id' && relations.some((relation) => relation.isOfOneTeam && (alias ?? relation.alias) === relation.alias)
}

function relationIn({ relations, outer }: Scope, alias: string): Relation | undefined {
  return relations.has(alias) ? relations.get(alias) : outer && relationIn(outer, alias)
}

/** Whether conditions name a table of an outer query. */
function isCorrelated(conditions: Node[], scope: Scope): boolean {
  const columns = conditions
    .flatMap((condition) => listNodes(condition))
    .map(({ ColumnRef }) => namesIn(ColumnRef?.fields as Node[]))
  return columns.some(([alias, column]) => column !== undefined && !scope.relations.has(alias!) && isNamedIn(scope.outer, alias!))
}

const isNamedIn = (scope: Scope | undefined, alias: string): boolean =>
  scope !== undefined && (scope.relations.has(alias) || isNamedIn(scope.outer, alias))

function reach(origin: string, links: Link[]): Set<string> {
  const reached = new Set([origin])
  for (let size = 0; size < reached.size;) {
    size = reached.size
    for (const { start, end, isOneWay } of links) {
      if (reached.has(start)) reached.add(end)
      if (!isOneWay && reached.has(end)) reached.add(start)
    }
  }
  return reached
}

/** A value that the statement does not take from a row. */
function isValue(node: Node | undefined): boolean {
  if (!node) return false
  return node.TypeCast ? isValue(node.TypeCast.arg as Node) : 'ParamRef' in node || 'A_Const' in node
}

/** The conditions that are all true. */
function conjuncts(condition: Node | undefined): Node[] {
  if (!condition) return []
  return condition.BoolExpr?.boolop === 'AND_EXPR' ? (condition.BoolExpr.args as Node[]).flatMap(conjuncts) : [condition]
}

/** The `exists` or `not exists` that a condition is. */
function existsIn(condition: Node): Node[] {
  if (condition.SubLink?.subLinkType === 'EXISTS_SUBLINK') return [condition]
  return condition.BoolExpr?.boolop === 'NOT_EXPR' ? (condition.BoolExpr.args as Node[]).flatMap(existsIn) : []
}

/** The expressions of an item of `from`. */
function expressionsOf(source: Node): Node[] {
  if (source.RangeFunction) return [source]
  if (!source.JoinExpr) return []
  const { larg, rarg, quals } = source.JoinExpr
  return [...expressionsOf(larg as Node), ...expressionsOf(rarg as Node), ...(quals ? [quals as Node] : [])]
}
