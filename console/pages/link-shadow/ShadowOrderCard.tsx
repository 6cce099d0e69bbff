import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { OrderLink } from '../links/OrderLink.tsx'
import type { ShadowDifference, ShadowOrder } from './shadow-query.ts'
import classes from './ShadowOrderCard.module.css'

const TONES = { different: 'failed', not_entered: 'neutral', same: 'good' } as const

/** An order: the values of the laboratory beside those of staff, differences first. */
export function ShadowOrderCard({ order }: { order: ShadowOrder }) {
  const { order_id, outcome, compared_results, differences, same_results } = order
  const { team } = useTeam()
  const [isOpen, { toggle }] = useDisclosure()
  const label = `Results of order ${shortId(order_id)}`
  return (
    <Stack component="article" gap="sm" className={classes.order} aria-label={label}>
      <Group gap="sm">
        <StatusBadge tone={TONES[outcome]}>{toWords(outcome)}</StatusBadge>
        <Text size="sm">
          <OrderLink order_id={order_id} team_id={team.id} />
        </Text>
        <NewestMessage order={order} />
        <Text size="sm" c="dimmed">
          {outcome === 'not_entered'
            ? 'Staff have entered no result yet.'
            : compared_results === 1
              ? '1 result compared'
              : `${compared_results} results compared`}
        </Text>
        {same_results.length > 0 && (
          <Button size="compact-sm" variant="subtle" onClick={toggle} aria-expanded={isOpen}>
            {isOpen ? 'Hide' : 'Show'} {same_results.length} same
          </Button>
        )}
      </Group>
      {(differences.length > 0 || isOpen) && (
        <Table layout="fixed" aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Result</Table.Th>
              <Table.Th>Laboratory</Table.Th>
              <Table.Th>Staff</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.flatMap((difference, index) => toRows(difference, index))}
            {isOpen &&
              same_results.map(({ name, laboratory, staff, unit }, index) => (
                <Row key={`same ${index}`} name={name} laboratory={withUnit(laboratory, unit)} staff={withUnit(staff, unit)} />
              ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  )
}

const FIELD_WORDS = { result: '', unit: 'unit', reference_range: 'range', flag: 'flag' } as const

/** A row for each field that differs, or one for a result without a value that only one side has. */
function toRows({ name, kind, fields }: ShadowDifference, index: number) {
  const [laboratoryAbsence, staffAbsence] = [
    kind === 'staff_only' ? 'not reported' : 'no value',
    kind === 'laboratory_only' ? 'not entered' : 'no value',
  ]
  const rows = fields.length > 0 ? fields : [{ field: 'result' as const, laboratory: null, staff: null }]
  return rows.map(({ field, laboratory, staff }) => (
    <Row
      key={`${index} ${field}`}
      name={[name, FIELD_WORDS[field]].filter(Boolean).join(', ')}
      laboratory={laboratory ?? <Absence text={laboratoryAbsence} />}
      staff={staff ?? <Absence text={staffAbsence} />}
      isDifferent
    />
  ))
}

const withUnit = (value: string | null, unit: string | null): ReactNode =>
  value === null ? <Absence text="no value" /> : [value, unit].filter(Boolean).join(' ')

/** Stands where there is no value, and does not look like one. */
const Absence = ({ text }: { text: string }) => (
  <Text span size="sm" fs="italic">
    ({text})
  </Text>
)

interface RowProps {
  name: string
  laboratory: ReactNode
  staff: ReactNode
  isDifferent?: boolean
}

const Row = ({ name, laboratory, staff, isDifferent = false }: RowProps) => (
  <Table.Tr className={isDifferent ? (classes.different ?? '') : ''}>
    <Table.Td className={classes.name}>{name}</Table.Td>
    <Table.Td className={classes.value}>{laboratory}</Table.Td>
    <Table.Td className={classes.value}>{staff}</Table.Td>
  </Table.Tr>
)

/** The newest message of the laboratory about the order. */
function NewestMessage({ order: { message_ids } }: { order: ShadowOrder }) {
  const { pathTo } = useTeam()
  const canOpen = usePermission('get_lab_message')
  const newest = message_ids.at(-1)
  if (!canOpen || newest === undefined) return null
  return (
    <Anchor component={Link} to={pathTo(`links/messages/${newest}`)} size="sm" underline="always" title={newest}>
      message {shortId(newest)}
    </Anchor>
  )
}
