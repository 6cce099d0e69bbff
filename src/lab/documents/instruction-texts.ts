// Instructions for taking samples, by specimen and by collection method. Data.
import type { CollectionMethod, SampleType } from '../catalog/enums.ts'

export interface InstructionSection {
  title: string
  steps: readonly string[]
}

export const fastingSection: InstructionSection = {
  title: 'Fasting',
  steps: [
    'Eat and drink nothing but plain water for 10 to 12 hours before your sample is taken.',
    'Take medicine that was prescribed to you as usual, unless your doctor said otherwise.',
    'Early morning is the easiest time.',
  ],
}

/** Steps before a kit is opened. */
export const beforeKitSection: InstructionSection = {
  title: 'Before you begin',
  steps: [
    'Register your kit first: the laboratory can only test a sample whose owner it knows.',
    'Read all steps once before you start, and check the expiry date on the box.',
    'Collect on a day when you can hand the parcel in, Monday to Thursday.',
    'Wash your hands with warm water and soap and dry them.',
  ],
}

export const afterKitSection: InstructionSection = {
  title: 'Sending it back',
  steps: [
    'Write your full name, your date of birth, the date and the time on the label of the sample.',
    'Put the sample into the bag with the absorbent sheet, close it, and put it into the box that came with the kit.',
    'Put the box into the prepaid envelope and hand it in the same day. Do not leave it in a hot car or a mailbox in the sun.',
  ],
}

/** Steps that the patient does at home, for each specimen. */
export const kitSectionsBySample: Record<SampleType, InstructionSection> = {
  dried_blood_spot: {
    title: 'Blood spots from the finger',
    steps: [
      'Let your arm hang and shake your hand for a minute. Warm hands bleed better.',
      'Clean the side of your ring or middle finger with the alcohol pad and let it dry.',
      'Press the lancet firmly against the side of the fingertip until it clicks. Wipe the first drop away with gauze.',
      'Touch each circle of the card with one large hanging drop. Fill every circle; do not press the finger on the card.',
      'Do not add a second drop to a circle that has begun to dry.',
      'Let the card dry flat for at least 30 minutes, away from sun and heat. Then close its flap.',
    ],
  },
  arm_collector: {
    title: 'Blood from the upper arm',
    steps: [
      'Warm the outer side of your upper arm for two minutes with the pack or with your hand.',
      'Clean the skin with the alcohol pad and let it dry.',
      'Peel the cover off the device, press it on the skin and push the button.',
      'Keep your arm low and still until the window shows that the tube is full, five minutes at most.',
      'Take the device off, cover the skin with the plaster, and close the tube with its cap.',
      'Turn the tube gently upside down ten times. Do not shake it.',
    ],
  },
  serum: {
    title: 'Blood from the finger into a tube',
    steps: [
      'Let your arm hang and shake your hand for a minute. Warm hands bleed better.',
      'Clean the side of your ring or middle finger with the alcohol pad and let it dry.',
      'Press the lancet firmly against the side of the fingertip until it clicks. Wipe the first drop away with gauze.',
      'Let drops fall into the tube up to its upper line. Stroke the finger towards its tip; do not squeeze the wound.',
      'Close the tube until it clicks and turn it gently upside down ten times.',
    ],
  },
  saliva: {
    title: 'Saliva',
    steps: [
      'For 30 minutes before, do not eat, drink, smoke, chew gum or brush your teeth.',
      'Let saliva gather in your mouth and let it run into the tube. Foam does not count.',
      'Fill the tube to its line and close it.',
      'Where several tubes are marked with times of the day, repeat this at each time and write the real time on each tube.',
    ],
  },
  urine: {
    title: 'Urine',
    steps: [
      'Wash the area around the opening with the wipe.',
      'Let the first part go into the toilet, then hold the cup into the stream without touching the skin with its rim.',
      'Fill the cup to its line, then finish in the toilet.',
      'Pour from the cup into the tube up to its line, close it tightly and wipe it dry.',
    ],
  },
  stool: {
    title: 'Stool',
    steps: [
      'Empty your bladder first: urine and water from the toilet spoil the sample.',
      'Spread the paper that came with the kit over the seat, or use a clean dry bowl.',
      'Take small amounts from several places with the stick or spoon in the cap of the tube.',
      'Fill the tube no further than its line, close it tightly and shake it for ten seconds.',
      'Flush the paper away and wash your hands.',
    ],
  },
}

const collectedTexts: Record<SampleType, string> = {
  dried_blood_spot: 'A few drops of blood are taken from your finger.',
  arm_collector: 'A small amount of blood is taken from your upper arm.',
  serum: 'Blood is drawn from a vein of your arm. It takes a few minutes.',
  saliva: 'You give saliva into a tube. Do not eat, drink, smoke or brush your teeth for 30 minutes before.',
  urine: 'You give urine into a cup. Do not empty your bladder in the hour before.',
  stool: 'You are given a container for a stool sample, with a description, to take home and bring back.',
}

/** Steps for the patient if a professional takes the sample. */
export const sectionsByMethod: Record<
  Exclude<CollectionMethod, 'testkit'>,
  (sample: SampleType) => readonly InstructionSection[]
> = {
  walk_in_test: (sample) => [
    {
      title: 'Before you go',
      steps: [
        'Bring a photo identification and your requisition, printed or on your phone.',
        'Drink a glass or two of water in the hours before: veins are easier to find then.',
        'Wear something with sleeves that can be rolled up.',
      ],
    },
    {
      title: 'At the service center',
      steps: [
        'Show your identification and your requisition at the desk.',
        collectedTexts[sample],
        'Say so if you have fainted at a blood draw before; you can lie down for it.',
      ],
    },
    { title: 'Afterwards', steps: ['Press on the plaster for five minutes and lift nothing heavy with that arm for an hour.'] },
  ],
  at_home_phlebotomy: (sample) => [
    {
      title: 'Before the visit',
      steps: [
        'An adult who can show a photo identification of the patient must be at home.',
        'Have a chair and a table ready in a room with good light, and keep pets away.',
        'Drink a glass or two of water in the hours before: veins are easier to find then.',
      ],
    },
    {
      title: 'During the visit',
      steps: [
        collectedTexts[sample],
        'Check that your name and date of birth on each tube are right before the phlebotomist leaves.',
        'Say so if you have fainted at a blood draw before; you can lie down for it.',
      ],
    },
    { title: 'Afterwards', steps: ['Press on the plaster for five minutes and lift nothing heavy with that arm for an hour.'] },
  ],
  on_site_collection: (sample) => [
    {
      title: 'At the collection site',
      steps: [
        'Bring a photo identification.',
        collectedTexts[sample],
        'Check that your name and date of birth on each container are right before you leave.',
      ],
    },
    { title: 'Afterwards', steps: ['Stay seated until you feel well. Press on the plaster for five minutes.'] },
  ],
}
