import { Group, SegmentedControl, Skeleton } from '@mantine/core'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { DataTable } from '../../../components/data-table/DataTable.tsx'
import type { Column } from '../../../components/data-table/columns.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { FilterBar } from '../../../components/FilterBar.tsx'
import { useFilters, type FilterField } from '../../../components/filters.ts'
import { IdText } from '../../../components/IdText.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { usePermissions } from '../../../session/permissions.ts'
import { Actor } from '../Actor.tsx'
import { useMemberNames } from '../member-names.ts'
import { Section } from '../Section.tsx'
import { useAudit, type AuditLine, type AuditScope } from './audit-queries.ts'

const FIELDS: readonly FilterField[] = [{ name: 'operation', example: 'create_webhook' }]
const lineId = ({ id }: AuditLine): string => id

/** The changes in the name of the organization: what was done, by whom, and when. */
export function AuditLogSection() {
  const [scopes, scope, setScope] = useScope()
  const [filters, setFilters] = useFilters(FIELDS)
  const operation = filters.at(-1)?.value
  return (
    <Section
      title="Audit log"
      description="Changes of settings, keys, members and endpoints, and reads of secrets. Who has read data of patients is in the access log."
    >
      {scopes.length > 1 && (
        <Group>
          <SegmentedControl
            aria-label="Whose changes"
            data={scopes}
            value={scope}
            onChange={(value) => setScope(value as AuditScope)}
          />
        </Group>
      )}
      <FilterBar fields={FIELDS} filters={filters.slice(-1)} onChange={(next) => setFilters(next.slice(-1))} />
      <AuditList key={`${scope} ${operation ?? ''}`} scope={scope} operation={operation} />
    </Section>
  )
}

/** The scopes that the member may list, and the one in the address of the page. */
function useScope() {
  const isPermitted = usePermissions()
  const [params, setParams] = useSearchParams()
  const scopes: { value: AuditScope; label: string }[] = [
    { value: 'team', label: 'This team' },
    ...(isPermitted('list_cell_audit') ? [{ value: 'environment' as const, label: 'All teams' }] : []),
    ...(isPermitted('list_org_audit') ? [{ value: 'organization' as const, label: 'Organization' }] : []),
  ]
  const scope = scopes.find(({ value }) => value === params.get('scope'))?.value ?? 'team'
  const setScope = (next: AuditScope): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      changed.set('scope', next)
      return changed
    })
  return [scopes, scope, setScope] as const
}

function AuditList({ scope, operation }: { scope: AuditScope; operation: string | undefined }) {
  const lines = useAudit(scope, operation)
  const names = useMemberNames()
  const rows = useMemo(() => lines.data?.pages.flatMap(({ data }) => data) ?? [], [lines.data])
  const columns = useMemo(() => listColumns(names, scope), [names, scope])
  if (!lines.data && !lines.error)
    return (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  return (
    <>
      {lines.error && <ErrorNotice error={lines.error} onRetry={() => void lines.refetch()} />}
      {lines.data && rows.length === 0 && (
        <EmptyState title={operation === undefined ? 'No changes yet' : 'No change matches'}>
          {operation === undefined
            ? 'Each change of a setting, a key, a member or an endpoint adds a line.'
            : 'An operation is named as in the API, for example create_webhook.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Audit log"
          columns={columns}
          rows={rows}
          rowId={lineId}
          onLoadMore={lines.hasNextPage ? () => void lines.fetchNextPage() : undefined}
          isLoadingMore={lines.isFetchingNextPage}
        />
      )}
    </>
  )
}

const listColumns = (names: ReadonlyMap<string, string>, scope: AuditScope): Column<AuditLine>[] => [
  { id: 'created', header: 'When', width: 84, cell: ({ created_at }) => <RelativeTime value={created_at} /> },
  { id: 'operation', header: 'Operation', cell: ({ operation }) => <span title={operation}>{operation}</span> },
  {
    id: 'actor',
    header: 'By',
    width: 152,
    cell: ({ member_id, key_id }) => <Actor member_id={member_id} key_id={key_id} names={names} />,
  },
  ...(scope === 'team'
    ? []
    : [
        {
          id: 'team',
          header: 'Team',
          width: 108,
          isHiddenOnPhone: true,
          cell: ({ team_id }: AuditLine) => team_id !== null && <IdText id={team_id} />,
        },
      ]),
  {
    id: 'object',
    header: 'Object',
    isHiddenOnPhone: true,
    cell: ({ object }) => object !== null && <span title={object}>{object}</span>,
  },
]
