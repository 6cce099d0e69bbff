import { Text } from '@mantine/core'
import type { Column } from '../../components/data-table/columns.tsx'
import { shortId } from '../../components/IdText.tsx'
import { methodWords, toneOfOrder, toWords } from '../../components/order-status.ts'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { OrderRow } from './orders-query.ts'

export const ORDER_COLUMNS: readonly Column<OrderRow>[] = [
  { id: 'order', header: 'Order', width: 100, cell: ({ id }) => <span title={id}>{shortId(id)}</span> },
  { id: 'patient', header: 'Patient', cell: PatientCell },
  {
    id: 'test',
    header: 'Test',
    isHiddenOnPhone: true,
    cell: ({ lab_test_name }) => <span title={lab_test_name}>{lab_test_name}</span>,
  },
  {
    id: 'status',
    header: 'Status',
    width: 188,
    cell: ({ status, low_level_status }) => (
      <StatusBadge tone={toneOfOrder(status, low_level_status)}>{toWords(low_level_status)}</StatusBadge>
    ),
  },
  { id: 'method', header: 'Method', width: 96, isHiddenOnPhone: true, cell: ({ method }) => methodWords(method) },
  { id: 'laboratory', header: 'Laboratory', width: 140, isHiddenOnPhone: true, cell: ({ lab_name }) => lab_name },
  { id: 'sample', header: 'Sample id', width: 132, isHiddenOnPhone: true, cell: ({ sample_id }) => sample_id },
  { id: 'result', header: 'Result', width: 96, isHiddenOnPhone: true, cell: ResultCell },
  {
    id: 'created',
    header: 'Created',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ created_at }) => <RelativeTime value={created_at} />,
  },
  {
    id: 'updated',
    header: 'Updated',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ updated_at }) => <RelativeTime value={updated_at} />,
  },
]

/** Columns that a list shows only when they are chosen. */
export const HIDDEN_AT_FIRST = ['laboratory', 'sample', 'created']

/** A kit that its patient registers later has no patient yet. */
function PatientCell({ patient_name, patient_dob, patient_gender }: OrderRow) {
  if (patient_name === null)
    return (
      <Text span size="sm" c="dimmed">
        not registered
      </Text>
    )
  const details = [patient_dob && `born ${patient_dob}`, patient_gender].filter(Boolean).join(', ')
  return <span title={details}>{patient_name}</span>
}

function ResultCell({ interpretation }: OrderRow) {
  if (interpretation === null) return null
  const tone = { normal: 'good', abnormal: 'attention', critical: 'failed', unknown: 'neutral' } as const
  return <StatusBadge tone={tone[interpretation]}>{toWords(interpretation)}</StatusBadge>
}
