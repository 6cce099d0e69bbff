import { Stack, Table, Text, Title } from '@mantine/core'
import { toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import type { Marker } from '../catalog/catalog-queries.ts'

type Question = NonNullable<Marker['aoe']>['questions'][number]

/** What the laboratory asks when an order is placed. */
export function Questions({ markers }: { markers: readonly Marker[] }) {
  const questions = markers.flatMap(({ id, name, aoe }) => (aoe?.questions ?? []).map((question) => ({ id, name, question })))
  return (
    <Stack gap="sm">
      <Title order={2}>Questions at order entry</Title>
      {questions.length ? (
        <ScrollRegion label="Questions">
          <Table miw={640} aria-label="Questions" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Question</Table.Th>
                <Table.Th>Marker</Table.Th>
                <Table.Th>Code</Table.Th>
                <Table.Th>Answer</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {questions.map(({ id, name, question }) => (
                <Table.Tr key={`${id} ${question.id}`}>
                  <Table.Td>
                    {question.value}
                    <Text size="xs" c="dimmed">
                      {question.required ? 'Required' : 'Optional'}
                    </Text>
                  </Table.Td>
                  <Table.Td>{name}</Table.Td>
                  <Table.Td>{question.code}</Table.Td>
                  <Table.Td>
                    {toWords(question.type)}
                    <AnswerHint question={question} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollRegion>
      ) : (
        <Text size="sm" c="dimmed">
          The laboratory asks nothing.
        </Text>
      )}
    </Stack>
  )
}

function AnswerHint({ question: { answers, constraint } }: { question: Question }) {
  const hint = [answers.map(({ value }) => value).join(', '), constraint].filter(Boolean).join('; ')
  return (
    hint && (
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
    )
  )
}
