import { Button, Group, Select, SimpleGrid, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { ApiError } from '../../api/api-error.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { methodWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { useHostPage } from '../../launch/host-page.ts'
import { useTeam } from '../../session/team.ts'
import { useLabTest } from '../lab-test/lab-test-queries.ts'
import { answerFaults, toAoeAnswers, type Answers } from './answers.ts'
import { EMPTY_FORM, fictionalForm, toOrder, type OrderForm } from './order-form.ts'
import { OrderQuestions } from './OrderQuestions.tsx'
import { useFormOfUser, useOrderableTests, usePlaceOrder, type PlacedOrder } from './place-order.ts'

/** Where the API names a value of the form in its errors. */
const PATHS: Partial<Record<keyof OrderForm, string>> = {
  lab_test_id: 'body.lab_test_id',
  client_user_id: 'body.client_user_id',
  first_name: 'body.patient_details.first_name',
  last_name: 'body.patient_details.last_name',
  dob: 'body.patient_details.dob',
  gender: 'body.patient_details.gender',
  phone_number: 'body.patient_details.phone_number',
  email: 'body.patient_details.email',
  first_line: 'body.patient_address.first_line',
  second_line: 'body.patient_address.second_line',
  city: 'body.patient_address.city',
  state: 'body.patient_address.state',
  zip: 'body.patient_address.zip',
}

const TITLE = 'Place an order'
const GENDERS = ['female', 'male', 'other', 'unknown'] as const

/** Places an order of one test: for the user in the address, or for a new one. In a sandbox a new patient is fictional unless another is written. */
export function NewOrderPage() {
  const [params] = useSearchParams()
  const user_id = params.get('user') ?? undefined
  return user_id === undefined ? <OrderOfNewUser /> : <OrderOfUser user_id={user_id} key={user_id} />
}

function OrderOfNewUser() {
  const { environment } = useTeam()
  const [form] = useState<OrderForm>(() =>
    environment === 'sandbox' ? fictionalForm(`console-${crypto.randomUUID().slice(0, 8)}`) : EMPTY_FORM,
  )
  return <OrderEditor initialForm={form} />
}

function OrderOfUser({ user_id }: { user_id: string }) {
  const { data, error, refetch } = useFormOfUser(user_id)
  if (data) return <OrderEditor initialForm={data} user_id={user_id} />
  return (
    <Page title={TITLE}>
      {error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <Delayed>
          <Skeleton height={360} />
        </Delayed>
      )}
    </Page>
  )
}

function OrderEditor({ initialForm, user_id }: { initialForm: OrderForm; user_id?: string }) {
  const [params] = useSearchParams()
  const [form, setForm] = useState(() => ({ ...initialForm, lab_test_id: params.get('test') ?? '' }))
  const { end, onPlaced, onCancel } = useEnd(user_id)
  const [answers, setAnswers] = useState<Answers>({})
  const test = useLabTest(form.lab_test_id)
  const markers = test.data?.markers ?? []
  const aoe_answers = toAoeAnswers(markers, answers)
  const placing = usePlaceOrder(user_id, onPlaced)
  const fields = prepareFields(form, setForm, placing.error)
  if (end !== undefined)
    return (
      <Page title={TITLE}>
        <Text role="status">{end}</Text>
      </Page>
    )
  return (
    <Page
      title={TITLE}
      actions={
        form.lab_test_id && (
          <CodeSamples request={{ method: 'POST', path: '/v3/order', body: toOrder(form, user_id ?? 'USER_ID', aoe_answers) }} />
        )
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          placing.mutate({ form, aoe_answers })
        }}
      >
        <Stack gap="lg" maw={720}>
          <TestSelect value={form.lab_test_id} onChange={(lab_test_id) => setForm({ ...form, lab_test_id })} />
          {test.error && <ErrorNotice error={test.error} onRetry={() => void test.refetch()} />}
          <OrderQuestions
            markers={markers}
            answers={answers}
            onChange={setAnswers}
            faults={answerFaults(placing.error, placing.variables?.aoe_answers ?? [])}
          />
          <Stack gap="sm">
            <Title order={2}>Patient</Title>
            {user_id === undefined && <NewUserFields fields={fields} />}
            <PatientFields form={form} setForm={setForm} fields={fields} />
          </Stack>
          <AddressFields fields={fields} />
          {placing.error && <ErrorNotice error={placing.error} />}
          <Group>
            <Button type="submit" loading={placing.isPending} disabled={!test.data}>
              Place order
            </Button>
            {onCancel && (
              <Button variant="default" onClick={onCancel} disabled={placing.isPending}>
                Cancel
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

/** How the form ends. In the page of another program, which learns it, there is no other page to go to. */
function useEnd(user_id: string | undefined) {
  const { team, pathTo } = useTeam()
  const navigate = useNavigate()
  const tellHost = useHostPage()
  const [end, setEnd] = useState<string>()
  const onPlaced = (order: PlacedOrder): void => {
    if (!tellHost) return void navigate(pathTo(`orders/${order.order_id}`))
    tellHost({ type: 'urn:junction:order:created', data: { ...order, team_id: team.id } })
    setEnd(`The order ${order.order_id} was placed.`)
  }
  const cancel = (): void => {
    tellHost?.({ type: 'urn:junction:order:creation_cancelled', data: { user_id: user_id ?? null, team_id: team.id } })
    setEnd('No order was placed.')
  }
  return { end, onPlaced, onCancel: tellHost && cancel }
}

type Fields = ReturnType<typeof prepareFields>

function NewUserFields({ fields }: { fields: Fields }) {
  const { environment } = useTeam()
  return (
    <>
      {environment === 'sandbox' && (
        <Text size="sm" c="dimmed">
          This patient is fictional: nobody has this phone number or mail address.
        </Text>
      )}
      <TextInput
        label="Your id of the user"
        description="A user with this id is created if there is none."
        required
        {...fields('client_user_id')}
      />
    </>
  )
}

function PatientFields({ form, setForm, fields }: { form: OrderForm; setForm: (form: OrderForm) => void; fields: Fields }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput label="First name" required {...fields('first_name')} />
      <TextInput label="Last name" required {...fields('last_name')} />
      <TextInput label="Date of birth" type="date" required {...fields('dob')} />
      <Select
        label="Gender"
        data={GENDERS}
        value={form.gender}
        allowDeselect={false}
        onChange={(gender) => gender && setForm({ ...form, gender: gender as OrderForm['gender'] })}
      />
      <TextInput label="Phone" description="With a leading +" required {...fields('phone_number')} />
      <TextInput label="Mail" type="email" required {...fields('email')} />
    </SimpleGrid>
  )
}

const AddressFields = ({ fields }: { fields: Fields }) => (
  <Stack gap="sm">
    <Title order={2}>Address</Title>
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput label="Street" required {...fields('first_line')} />
      <TextInput label="Apartment" {...fields('second_line')} />
      <TextInput label="City" required {...fields('city')} />
      <TextInput label="State" required {...fields('state')} />
      <TextInput label="ZIP code" required {...fields('zip')} />
    </SimpleGrid>
  </Stack>
)

/** The properties of a text field: its value, and what the API says is wrong with it. */
function prepareFields(form: OrderForm, onChange: (form: OrderForm) => void, error: Error | null) {
  const faults = error instanceof ApiError ? error.fields : []
  return (name: keyof OrderForm) => ({
    value: form[name],
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...form, [name]: event.currentTarget.value }),
    error: faults.find(({ field }) => field === PATHS[name])?.message,
  })
}

function TestSelect({ value, onChange }: { value: string; onChange: (lab_test_id: string) => void }) {
  const tests = useOrderableTests()
  const options = (tests.data?.data ?? []).map(({ id, name, method, lab }) => ({
    value: id,
    label: [name, methodWords(method), lab?.name].filter(Boolean).join(' · '),
  }))
  return (
    <Stack gap="sm">
      <Select
        label="Test"
        placeholder={tests.isPending ? 'Loading…' : 'Choose a test'}
        data={options}
        value={value || null}
        onChange={(id) => onChange(id ?? '')}
        searchable
        required
        limit={200}
        nothingFoundMessage="No test of the team has this name"
      />
      {tests.error && <ErrorNotice error={tests.error} onRetry={() => void tests.refetch()} />}
    </Stack>
  )
}
