import { Anchor, Button, Group, Skeleton, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState, type FormEvent } from 'react'
import { Link, useSearchParams } from 'react-router'
import { DataTable } from '../../../components/data-table/DataTable.tsx'
import type { Column } from '../../../components/data-table/columns.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { shortId } from '../../../components/IdText.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { useTeam } from '../../../session/team.ts'
import { ChainCheck } from './ChainCheck.tsx'
import { Actor } from '../Actor.tsx'
import { useMemberNames } from '../member-names.ts'
import { Section } from '../Section.tsx'
import { accessKey, useUserAccess, type AccessLine } from './access-queries.ts'

const USER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const lineId = ({ line }: AccessLine): string => String(line)

/** Who has seen a patient: the lines of the access log about a user, whose id is in the address of the page. */
export function AccessLogSection() {
  const [params, setParams] = useSearchParams()
  const queryClient = useQueryClient()
  const { key } = useTeam()
  const user_id = params.get('user') ?? ''
  // The log is read again when it is asked for, and not by itself: reading it adds a line.
  const show = (next: string): void => {
    setParams({ user: next })
    void queryClient.invalidateQueries({ queryKey: accessKey(key, next) })
  }
  return (
    <Section
      title="Access log"
      description="Who has seen a patient: every request and command that showed, changed or named a user, refused ones included. Reading the log adds a line."
    >
      <UserForm key={user_id} user_id={user_id} onShow={show} />
      {USER_ID.test(user_id) ? (
        <AccessList key={user_id} user_id={user_id} />
      ) : (
        <EmptyState title="Whose log">
          Enter the id of a user. The log of a user who was erased stays as long as the operator keeps the log.
        </EmptyState>
      )}
      <ChainCheck />
    </Section>
  )
}

function UserForm({ user_id, onShow }: { user_id: string; onShow: (user_id: string) => void }) {
  const [text, setText] = useState(user_id)
  const [error, setError] = useState<string>()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const id = text.trim().toLowerCase()
    if (USER_ID.test(id)) onShow(id)
    else setError('This is not a whole id of a user')
  }
  return (
    <form onSubmit={submit}>
      <Group gap="sm" align="flex-start">
        <TextInput
          aria-label="Id of the user"
          placeholder="Id of the user"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setError(undefined)
          }}
          error={error}
          flex="1 1 240px"
          maw={360}
        />
        <Button type="submit" variant="default">
          Show the log
        </Button>
      </Group>
    </form>
  )
}

function AccessList({ user_id }: { user_id: string }) {
  const { pathTo } = useTeam()
  const lines = useUserAccess(user_id)
  const names = useMemberNames()
  const rows = useMemo(() => lines.data?.pages.flatMap(({ data }) => data) ?? [], [lines.data])
  const columns = useMemo(() => listColumns(names, pathTo), [names, pathTo])
  if (!lines.data && !lines.error)
    return (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  return (
    <>
      {lines.error && <ErrorNotice error={lines.error} onRetry={() => void lines.refetch()} />}
      {lines.data && rows.length === 0 && lines.hasNextPage && (
        <EmptyState
          title="No line in the newest days"
          action={
            <Button variant="default" loading={lines.isFetchingNextPage} onClick={() => void lines.fetchNextPage()}>
              Show older lines
            </Button>
          }
        >
          Older days are in files, of which each request reads a few.
        </EmptyState>
      )}
      {lines.data && rows.length === 0 && !lines.hasNextPage && (
        <EmptyState title="No line names this user">
          No request of this team and environment has named a user with this id, or the operator no longer keeps that time.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Access log of the user"
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

const listColumns = (names: ReadonlyMap<string, string>, pathTo: (page: string) => string): Column<AccessLine>[] => [
  { id: 'line', header: 'Line', width: 84, align: 'right', isHiddenOnPhone: true, cell: ({ line }) => line },
  { id: 'created', header: 'When', width: 96, cell: ({ created_at }) => <RelativeTime value={created_at} /> },
  {
    id: 'actor',
    header: 'By',
    cell: ({ member_id, key_id }) => <Actor member_id={member_id} key_id={key_id} names={names} />,
  },
  { id: 'operation', header: 'Operation', cell: ({ operation }) => <span title={operation}>{operation}</span> },
  {
    id: 'objects',
    header: 'Object',
    width: 120,
    isHiddenOnPhone: true,
    cell: ({ objects, operation }) => <Objects objects={objects} isOrder={operation.includes('order')} pathTo={pathTo} />,
  },
  {
    id: 'address',
    header: 'Address',
    width: 120,
    isHiddenOnPhone: true,
    cell: ({ address }) => <span title={address ?? ''}>{address}</span>,
  },
  { id: 'outcome', header: 'Status', width: 68, align: 'right', isHiddenOnPhone: true, cell: ({ outcome }) => outcome },
]

interface ObjectsProps {
  objects: readonly string[]
  isOrder: boolean
  pathTo: (page: string) => string
}

const Objects = ({ objects: [first, ...others], isOrder, pathTo }: ObjectsProps) =>
  first !== undefined && (
    <>
      {isOrder ? (
        <Anchor component={Link} to={pathTo(`orders/${first}`)} size="sm" title={first}>
          {shortId(first)}
        </Anchor>
      ) : (
        <span title={first}>{shortId(first)}</span>
      )}
      {others.length > 0 && ` and ${others.length} more`}
    </>
  )
