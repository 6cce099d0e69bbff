import { Stack, Table, Text, Title } from '@mantine/core'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { durationText } from '../catalog/lab-test-words.ts'
import type { Marker } from './lab-test-queries.ts'
import { Questions } from './Questions.tsx'

/** Markers with their codes, what is reported for each, and what the laboratory asks. */
export const Markers = ({ markers }: { markers: readonly Marker[] }) => (
  <>
    <Stack gap="sm">
      <Title order={2}>Markers</Title>
      <ScrollRegion label="Markers">
        <Table miw={640} aria-label="Markers" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Marker</Table.Th>
              <Table.Th>Code of the laboratory</Table.Th>
              <Table.Th>LOINC</Table.Th>
              <Table.Th>Unit</Table.Th>
              <Table.Th>Results take</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {markers.map((marker) => (
              <MarkerRow key={marker.id} marker={marker} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    </Stack>
    <Questions markers={markers} />
  </>
)

function MarkerRow({ marker }: { marker: Marker }) {
  const { name, provider_id, unit, expected_results, is_orderable } = marker
  const codes = [...new Set(expected_results.flatMap(({ loinc }) => loinc?.code ?? []))]
  return (
    <Table.Tr>
      <Table.Td>
        {name}
        {is_orderable === false && (
          <Text size="xs" c="dimmed">
            Run by the laboratory if another result requires it
          </Text>
        )}
        {expected_results.length > 1 && (
          <Text size="xs" c="dimmed">
            {expected_results.map((result) => result.name).join(', ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{provider_id}</Table.Td>
      <Table.Td>{codes.join(', ')}</Table.Td>
      <Table.Td>{unit}</Table.Td>
      <Table.Td>{durationText(marker)}</Table.Td>
    </Table.Tr>
  )
}
