// Which functions and operators return another value for the same arguments. PostgreSQL: "Function Volatility Categories".
import { childrenOf, namesIn, listNodes, type Node } from './syntax.ts'

const VOLATILE = new Set([
  'clock_timestamp',
  'gen_random_uuid',
  'nextval',
  'pg_advisory_xact_lock',
  'pg_sleep',
  'pg_try_advisory_xact_lock',
  'random',
  'set_config',
  'setval',
  'timeofday',
  'txid_current',
  'uuidv7',
])

/** Those with a variant that is stable count as stable: a tree has no types. */
const STABLE = new Set([
  'age',
  'array_to_json',
  'array_to_string',
  'concat',
  'concat_ws',
  'current_database',
  'current_schema',
  'current_setting',
  'current_team',
  'date_part',
  'date_trunc',
  'extract',
  'format',
  'json_agg',
  'json_build_array',
  'json_build_object',
  'jsonb_agg',
  'jsonb_build_object',
  'now',
  'pg_backend_pid',
  'statement_timestamp',
  'to_char',
  'to_date',
  'to_json',
  'to_jsonb',
  'to_timestamp',
  'transaction_timestamp',
])

/** Casts from texts to these types, and among them, depend on the time zone. */
const ZONED = new Set(['date', 'time', 'timestamp', 'timestamptz', 'timetz'])

export const isVolatile = (node: Node): boolean => VOLATILE.has(functionName(node))

/** Whether a node by itself, without its arguments, is not immutable. */
export const isMutable = (node: Node): boolean =>
  VOLATILE.has(functionName(node)) ||
  STABLE.has(functionName(node)) ||
  'SQLValueFunction' in node ||
  isZonedCast(node) ||
  isIntervalSum(node)

/** The functions, operators and casts that are not immutable and whose arguments name a column. */
export const mutableOfColumns = (nodes: Node[]): Node[] =>
  nodes.filter(
    (node) =>
      isMutable(node) &&
      childrenOf(node)
        .flatMap((child) => listNodes(child))
        .some(({ ColumnRef }) => ColumnRef),
  )

const functionName = ({ FuncCall }: Node): string => namesIn(FuncCall?.funcname as Node[]).at(-1) ?? ''

/** Of a column: the value of a parameter or a literal is computed once. */
function isZonedCast({ TypeCast: cast }: Node): boolean {
  return cast !== undefined && ZONED.has(namesIn(cast.typeName.names as Node[]).at(-1)!) && 'ColumnRef' in (cast.arg as Node)
}

/** An interval is added to an instant, or subtracted. */
function isIntervalSum({ A_Expr: fields }: Node): boolean {
  if (fields?.kind !== 'AEXPR_OP' || !['+', '-'].includes(namesIn(fields.name as Node[])[0]!)) return false
  return [fields.lexpr, fields.rexpr].some((side) => side && isInterval(side as Node))
}

const isInterval = (node: Node): boolean =>
  functionName(node) === 'make_interval' || namesIn(node.TypeCast?.typeName.names as Node[]).at(-1) === 'interval'
