import { Checkbox, Fieldset, NativeSelect, SimpleGrid, Stack, Textarea, TextInput, Title } from '@mantine/core'
import type { LabTest } from '../catalog/catalog-queries.ts'
import { isRequired, questionKey, questionsOf, type Answers, type Question } from './answers.ts'

/** The length that the API takes. */
const ANSWER_MAX = 1000
/** The numbers that the API takes. */
const NUMBER = String.raw`\s*[+\-]?\d{1,15}(\.\d{1,10})?\s*`

interface OrderQuestionsProps {
  markers: NonNullable<LabTest['markers']>
  answers: Answers
  onChange: (answers: Answers) => void
  /** What the API says is wrong with an answer, by question. */
  faults: ReadonlyMap<string, string>
}

/** What the laboratory asks when an order is placed, by marker; nothing if it asks nothing. */
export function OrderQuestions({ markers, answers, onChange, faults }: OrderQuestionsProps) {
  const asking = markers.filter((marker) => questionsOf(marker).length > 0)
  if (asking.length === 0) return null
  return (
    <Stack gap="sm">
      <Title order={2}>Questions of the laboratory</Title>
      {asking.map((marker) => (
        <Fieldset key={marker.id} legend={marker.name} mx={0}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {questionsOf(marker).map((question) => {
              const key = questionKey(marker.id, question.id)
              return (
                <QuestionField
                  key={key}
                  question={question}
                  answer={answers[key] ?? ''}
                  onChange={(answer) => onChange({ ...answers, [key]: answer })}
                  error={faults.get(key)}
                />
              )
            })}
          </SimpleGrid>
        </Fieldset>
      ))}
    </Stack>
  )
}

interface QuestionFieldProps {
  question: Question
  answer: Answers[string]
  onChange: (answer: Answers[string]) => void
  error: string | undefined
}

function QuestionField({ question, answer, onChange, error }: QuestionFieldProps) {
  if (question.type === 'multi_choice')
    return <Choices question={question} answer={typeof answer === 'string' ? [] : answer} onChange={onChange} error={error} />
  const field = {
    label: question.value,
    description: hintOf(question),
    required: isRequired(question),
    error,
    value: typeof answer === 'string' ? answer : '',
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  if (question.type === 'choice')
    return <NativeSelect {...field} data={[{ value: '', label: emptyText(question) }, ...question.answers.map(toOption)]} />
  if (question.type === 'numeric')
    return <TextInput {...field} inputMode="decimal" pattern={NUMBER} title="A number, for example 24 or 1.5" />
  return <Textarea {...field} autosize maxLength={ANSWER_MAX} />
}

interface ChoicesProps extends Omit<QuestionFieldProps, 'answer'> {
  answer: readonly string[]
}

/** The browser has no rule that one box of several is checked: the first box carries it. */
function Choices({ question, answer, onChange, error }: ChoicesProps) {
  const refusal = isRequired(question) && answer.length === 0 ? 'Choose one or more answers.' : ''
  return (
    <Checkbox.Group
      label={question.value}
      description={hintOf(question)}
      withAsterisk={isRequired(question)}
      error={error}
      value={[...answer]}
      onChange={onChange}
    >
      <Stack gap={6} mt={6}>
        {question.answers.map(({ code, value }, index) => (
          <Checkbox
            key={code}
            value={code}
            label={value}
            ref={(box) => {
              if (index === 0) box?.setCustomValidity(refusal)
            }}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

const emptyText = (question: Question): string => (isRequired(question) ? 'Choose an answer' : 'No answer')

const toOption = ({ code, value }: Question['answers'][number]) => ({ value: code, label: value })

/** What the laboratory says about an answer. Its default is a hint: the person who places the order answers. */
const hintOf = ({ constraint, default: usual }: Question): string | undefined =>
  [constraint, usual !== null && `Default: ${usual}`].filter(Boolean).join('. ') || undefined
