// The rules of Citus for statements on tables that are distributed by `team_id`. Each was tried on Citus 13.2. Work on the whole cell may read
// and write rows of several teams at once, as far as Citus does it without moving rows between nodes; a statement of a team may not.
import { isMutable, isVolatile, mutableOfColumns } from './functions.ts'
import { childrenOf, listNodes, namesIn, parseStatement, typeOf, type Fields, type Node } from './syntax.ts'
import { listTables, readQuery, type Query, type Relation, type TableKind } from './teams.ts'

const DOCUMENTS = 'https://docs.citusdata.com/en/stable/develop'
const PLANNER = 'https://github.com/citusdata/citus/blob/v13.2.0/src/backend/distributed/planner'

/** What each rule asks, with its source. */
export const RULES = {
  team: {
    text: 'A statement of a team names the team for each distributed table.',
    source: `${DOCUMENTS}/migration_mt_query.html`,
  },
  joined: {
    text: 'Distributed tables with rows of several teams are joined by team_id, and not from another kind of table.',
    source: `${DOCUMENTS}/reference_sql.html#joins`,
  },
  locked: {
    text: 'A select that locks names one team, and has no volatile function.',
    source: `${DOCUMENTS}/reference_workarounds.html`,
  },
  values: {
    text: 'An insert has no subquery in its values and after them, and names the team.',
    source: `${PLANNER}/multi_router_planner.c`,
  },
  conflict: {
    text: 'What an insert does in a conflict, and what a write returns, has immutable functions only, and no parameter if the insert selects from no distributed table.',
    source: `${PLANNER}/multi_router_planner.c`,
  },
  written: {
    text: 'Only insert, update and delete write rows. The last two have no volatile function, no mutable one of a column or within case or coalesce, no case with an operand, and keep the team.',
    source: `${PLANNER}/multi_router_planner.c`,
  },
  ctid: {
    text: 'A statement with ctid names one team: rows of other nodes have the same.',
    source: `${PLANNER}/recursive_planning.c`,
  },
  columns: {
    text: 'A query of several teams within another one has columns.',
    source: `${PLANNER}/recursive_planning.c`,
  },
  ctes: {
    text: 'An insert that selects from distributed tables has no common table expressions on them: a node would run them on the whole table.',
    source: `${PLANNER}/insert_select_planner.c`,
  },
  constant: {
    text: 'A query of no table within a query of several teams has immutable functions only.',
    source: `${PLANNER}/query_pushdown_planning.c`,
  },
  called: {
    text: 'A statement that names distributed tables calls no function of the schema that reads some.',
    source: `${DOCUMENTS}/reference_workarounds.html`,
  },
  local: {
    text: 'No inner query of a local table names columns of a distributed one, nor the reverse.',
    source: `${DOCUMENTS}/reference_sql.html#joins`,
  },
} as const

export type Rule = keyof typeof RULES

export interface Fault {
  rule: Rule
  table: string
  /** In the text, in bytes. */
  location: number
}

/** `team`: a connection sends it that sees the rows of one team. */
export type Reach = 'team' | 'cell'

const KNOWN_TYPES = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt']

/** What a statement does against the rules: each rule once for a place. */
export function findFaults(text: string, reach: Reach, kinds: ReadonlyMap<string, TableKind>): Fault[] {
  const faults = new Map<string, Fault>()
  const add = (rule: Rule, { table, location }: Relation) => faults.set(`${rule} ${location}`, { rule, table, location })
  const statement = parseStatement(text)
  if (!KNOWN_TYPES.includes(typeOf(statement))) return [{ rule: 'written', table: typeOf(statement), location: 0 }]
  const query = readQuery(statement, { kinds, ctes: new Set() })
  visit(query, undefined)
  const calls = listTables(query).some(({ kind }) => kind === 'distributed') ? listNodes(statement) : []
  for (const { FuncCall: call } of calls) {
    const table = `${namesIn(call?.funcname as Node[]).at(-1)}()`
    if (kinds.has(table)) faults.set(`called ${call!.location}`, { rule: 'called', table, location: call!.location as number })
  }
  return [...faults.values()]

  function visit(query: Query, outer: Query | undefined): void {
    const distributed = query.relations.filter(({ kind }) => kind === 'distributed')
    for (const relation of distributed)
      if (!relation.isOfOneTeam && 'InsertStmt' in query.node && isInsertOfValues(query.node)) add('values', relation)
      else if (!relation.isOfOneTeam && reach === 'team') add('team', relation)
      else if (!relation.isOfOneTeam && !relation.isJoined) add('joined', relation)
    const [first] = distributed
    if (first && !first.isOfOneTeam && namesPlace(query.node)) add('ctid', first)
    if (first && !first.isOfOneTeam && outer && isWithoutColumns(query, outer)) add('columns', first)
    if (first && isLocked(query.node, distributed)) add('locked', first)
    for (const { rule, table } of checkWrite(query)) add(rule, table)
    const ofTeams = outer?.relations.find(({ kind, isOfOneTeam }) => kind === 'distributed' && !isOfOneTeam)
    if (ofTeams && isOfNoTable(query.node) && ownNodes([query.node.SelectStmt!.targetList]).some(isMutable))
      add('constant', ofTeams)
    const mixed = outer && query.isCorrelated ? mixedWith(query, outer) : undefined
    if (mixed) add('local', mixed)
    for (const inner of query.queries) visit(inner, query)
  }
}

const isOfNoTable = ({ SelectStmt }: Node): boolean =>
  SelectStmt?.targetList !== undefined && !SelectStmt.fromClause && !SelectStmt.larg

/** Whether its own expressions have the place of a row. */
const namesPlace = (node: Node): boolean =>
  ownNodes([node[typeOf(node)]]).some(({ ColumnRef }) => namesIn(ColumnRef?.fields as Node[]).at(-1) === 'ctid')

/** Whether Citus stores the rows of an inner query, which have no columns. */
const isWithoutColumns = ({ node, isCorrelated }: Query, outer: Query): boolean =>
  'SelectStmt' in node && !node.SelectStmt!.targetList && !node.SelectStmt!.larg && !isCorrelated && !outer.node.SelectStmt?.larg

const isInsertOfValues = ({ InsertStmt }: Node): boolean => InsertStmt!.selectStmt?.SelectStmt.valuesLists !== undefined

/** The table that a query writes, unless Citus leaves it to PostgreSQL. */
function writtenTable({ node, relations }: Query): Relation | undefined {
  const [target] = 'SelectStmt' in node ? [] : relations
  return target?.kind === 'local' ? undefined : target
}

function checkWrite(query: Query): { rule: Rule; table: Relation }[] {
  const table = writtenTable(query)
  return table ? rulesOfWrite(query, table).map((rule) => ({ rule, table })) : []
}

function rulesOfWrite({ node, queries }: Query, { kind }: Relation): Rule[] {
  const fields = node[typeOf(node)] as Fields
  const rules: Rule[] = []
  const returned = ownNodes([fields.returningClause])
  if (returned.some(isMutable)) rules.push('conflict')
  if ('InsertStmt' in node) {
    if (isInsertOfValues(node) && queries.some((query) => !isCte(query, fields))) rules.push('values')
    const after = ownNodes([fields.onConflictClause])
    const isOfTables = queries.flatMap(listTables).some(({ kind }) => kind === 'distributed')
    const hasParameter = !isInsertOfValues(node) && !isOfTables && [...returned, ...after].some((item) => 'ParamRef' in item)
    if (after.some(isMutable) || hasParameter) rules.push('conflict')
    if (!isInsertOfValues(node) && isPushedWithCtes(queries, fields)) rules.push('ctes')
    return rules
  }
  const written = ownNodes([fields.targetList, fields.whereClause, fields.fromClause, fields.usingClause])
  const branches = written.filter((item) => 'CaseExpr' in item || 'CoalesceExpr' in item).flatMap((item) => listNodes(item))
  const hasOperand = written.some(({ CaseExpr }) => CaseExpr?.arg)
  const changesTeam =
    kind === 'distributed' && ((fields.targetList ?? []) as Node[]).some(({ ResTarget }) => ResTarget!.name === 'team_id')
  if (changesTeam || hasOperand || written.some(isVolatile) || mutableOfColumns(written).length || branches.some(isMutable))
    rules.push('written')
  return rules
}

function isLocked({ SelectStmt: fields }: Node, tables: Relation[]): boolean {
  if (!fields?.lockingClause) return false
  return tables.some(({ isOfOneTeam }) => !isOfOneTeam) || ownNodes([fields.targetList]).some(isVolatile)
}

const isCte = ({ node }: Query, { withClause }: Fields): boolean =>
  ((withClause?.ctes ?? []) as Node[]).some(({ CommonTableExpr }) => CommonTableExpr!.ctequery === node)

/** Whether the nodes run the select of an insert, and each with the common table expressions as they are. */
function isPushedWithCtes(queries: Query[], fields: Fields): boolean {
  const isOfTables = (areCtes: boolean) =>
    queries
      .filter((query) => isCte(query, fields) === areCtes)
      .flatMap(listTables)
      .some(({ kind }) => kind === 'distributed')
  return isOfTables(true) && isOfTables(false) && !listNodes(fields.selectStmt as Node).some(isVolatile)
}

/** The table of an inner query, or of the outer one, that is not of the kind of the others. */
function mixedWith({ relations }: Query, outer: Query): Relation | undefined {
  const isMixed = (innerKind: TableKind, outerKind: TableKind) =>
    relations.some(({ kind }) => kind === innerKind) && outer.relations.some(({ kind }) => kind === outerKind)
  const distributed = [...relations, ...outer.relations].find(({ kind }) => kind === 'distributed')
  const isMixedWith = (kind: TableKind) => isMixed(kind, 'distributed') || isMixed('distributed', kind)
  return isMixedWith('local') || isMixedWith('managed') ? distributed : undefined
}

/** The nodes of expressions, without those of queries within them. */
const ownNodes = (expressions: unknown): Node[] =>
  childrenOf(expressions).flatMap((node) => listNodes(node, (item) => 'SelectStmt' in item))
