import { Choice, Flag, OptionGroup } from './option-types.ts'

const codes = ['AA', 'AE', 'AR'] as const
const conditions = ['', 'AL', 'NE', 'ER', 'SU'] as const

export const AcknowledgmentOptions = OptionGroup(
  {
    mode: Choice(
      ['original', 'enhanced'],
      'original',
      'What the laboratory answers. `enhanced`: `CA` when it has stored a message, then `AA`.',
    ),
    accept_condition: Choice(conditions, '', 'MSH-15 of messages to the laboratory.'),
    application_condition: Choice(conditions, '', 'MSH-16 of messages to the laboratory.'),
    honors_never: Flag(true, 'A message with `NE` in MSH-15 and MSH-16 gets no acknowledgment.'),
    unreadable: Choice(codes, 'AE', 'Code for a message that cannot be read. Its bytes are stored.'),
    unsupported: Choice(codes, 'AR', 'Code for a message of a type that links do not support. Its bytes are stored.'),
    unknown_account: Choice(codes, 'AR', 'Code for a message of another sender or account. Its bytes are stored.'),
  },
  'How messages are acknowledged.',
)
