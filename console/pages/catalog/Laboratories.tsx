import { Anchor, Skeleton, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { methodWords, toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { useTeam } from '../../session/team.ts'
import { useLabs, type Lab } from './catalog-queries.ts'

/** The laboratories that the team can order from. */
export function Laboratories() {
  const labs = useLabs()
  if (labs.error) return <ErrorNotice error={labs.error} onRetry={() => void labs.refetch()} />
  if (!labs.data)
    return (
      <Delayed>
        <Skeleton height={240} />
      </Delayed>
    )
  if (!labs.data.length)
    return (
      <EmptyState title="No laboratories">
        A laboratory is here when the team has an account of it. Administrators add lab accounts in the settings.
      </EmptyState>
    )
  return (
    <ScrollRegion label="Laboratories">
      <Table miw={720} aria-label="Laboratories" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Laboratory</Table.Th>
            <Table.Th>Slug</Table.Th>
            <Table.Th>Methods</Table.Th>
            <Table.Th>Samples</Table.Th>
            <Table.Th>Address</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {labs.data.map((lab) => (
            <LabRow key={lab.id} lab={lab} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}

function LabRow({ lab }: { lab: Lab }) {
  const { pathTo } = useTeam()
  return (
    <Table.Tr>
      <Table.Td>
        {lab.name}
        <Text size="xs">
          <Anchor component={Link} to={pathTo(`catalog?lab=${lab.slug}`)} size="xs">
            Tests
          </Anchor>{' '}
          ·{' '}
          <Anchor component={Link} to={pathTo(`catalog/markers?lab=${lab.slug}`)} size="xs">
            Markers
          </Anchor>
        </Text>
      </Table.Td>
      <Table.Td>{lab.slug}</Table.Td>
      <Table.Td>{lab.collection_methods.map(methodWords).join(', ')}</Table.Td>
      <Table.Td>{lab.sample_types.map(toWords).join(', ')}</Table.Td>
      <Table.Td>{[lab.first_line_address, lab.city, lab.zipcode].filter(Boolean).join(', ')}</Table.Td>
    </Table.Tr>
  )
}
