// Shapes of checks and trials of links in the Management API.
import { describedAs, Fields, Int, Nullable, OpenEnum, T, Timestamp } from '../../platform/schema/schema.ts'

const CheckStep = Fields(
  {
    name: T.String({ description: 'Such as `port`, `tls` or `echo`. A name may occur more than once.' }),
    outcome: OpenEnum(['ok', 'failed', 'open'], { description: '`open`: it cannot be said yet.' }),
    text: T.String({ description: 'What the step has shown.' }),
    advice: Nullable(T.String({ description: 'What to do.' })),
  },
  { title: 'LabLinkCheckStep' },
)

export const LinkCheck = Fields(
  {
    steps: T.Array(CheckStep, {
      description: 'In their order. After one that failed, further ones of its transport are left out.',
    }),
    is_working: T.Boolean({ description: 'No step has failed.' }),
  },
  { title: 'LabLinkCheck' },
)

const TrialOutcome = Fields(
  {
    position: Int(),
    name: T.String({ description: 'Such as `plain` or `cancel`.' }),
    contents: T.String({ description: 'What the order contains.' }),
    results: T.String({ description: 'What the laboratory is asked to send after its answer.' }),
    placer_number: T.String(),
    control_id: T.String(),
    sent_at: describedAs(Nullable(Timestamp), 'Null: not sent yet, or not at all.'),
    expected: OpenEnum(['accepted', 'refused', 'cancelled']),
    verdict: OpenEnum(['as_expected', 'different', 'open'], {
      description: '`open`: it is not sent, or the laboratory has not answered.',
    }),
    answer: Nullable(T.String({ description: '`AA`, or with the status of the order `AA, UA`.' })),
    text: Nullable(T.String({ description: 'What the laboratory says, or why there is no answer.' })),
    received_tests: T.Array(T.String(), { description: 'For each message with results, its tests with their statuses.' }),
  },
  { title: 'LabLinkTrialOutcome' },
)

export const LinkTrial = Fields(
  {
    laboratory: T.String({ description: 'Slug of the laboratory.' }),
    account_number: T.String(),
    sent_at: describedAs(Nullable(Timestamp), 'When the trial began.'),
    is_running: T.Boolean({ description: 'Its orders are being sent.' }),
    outcomes: T.Array(TrialOutcome, { description: 'Empty without a trial.' }),
  },
  { title: 'LabLinkTrial' },
)

const CODES_MAX = 20

export const TrialBody = Fields(
  {
    test_codes: T.Optional(
      T.Array(T.String({ minLength: 1, maxLength: 100 }), {
        maxItems: CODES_MAX,
        description: "The laboratory's codes of tests to order. Default: the first orderable tests of its catalog.",
      }),
    ),
  },
  { title: 'StartLabLinkTrialBody' },
)
