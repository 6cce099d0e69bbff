import { Choice, Line, Lines, OptionGroup } from './option-types.ts'

export const IdentityOptions = OptionGroup(
  {
    our_application: Line('MSH-3 of messages to the laboratory.', 'DRAWBRIDGE'),
    our_facility: Line('MSH-4 of messages to the laboratory.', ''),
    laboratory_application: Line('MSH-5 of messages to the laboratory.', ''),
    laboratory_facility: Line('MSH-6 of messages to the laboratory.', ''),
    sender_applications: Lines('Accepted MSH-3 of messages from the laboratory. Empty: any.'),
    sender_facilities: Lines('Accepted MSH-4 of messages from the laboratory. Empty: any.'),
    receiver_facilities: Lines(
      'Accepted MSH-6 of messages from the laboratory: the account. Links that share a listener are distinguished by the sender and by it. Empty: any.',
    ),
    processing_ids: Choice(
      ['check', 'ignore'],
      'check',
      '`check`: MSH-11 of a received message must agree with the mode of the link: `T` or `D` in mode `test`, `P` in the modes `shadow` and `live`. `ignore`: MSH-11 has no meaning.',
    ),
    version: Choice(
      ['2.1', '2.2', '2.3', '2.3.1', '2.4', '2.5', '2.5.1', '2.6', '2.7', '2.7.1', '2.8'],
      '2.5.1',
      'MSH-12 of messages to the laboratory.',
    ),
    profile_ids: Lines('MSH-21 of messages to the laboratory, each as it is to be written.'),
  },
  'Who sends and who receives.',
)
