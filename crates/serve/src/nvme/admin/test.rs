use super::*;
use crate::nvme::facts::example;

fn command(opcode: u8, dwords: [u32; 6]) -> Submission {
    Submission { opcode, dwords, ..Submission::read(&[0; 64]) }
}

/// Asks a controller of a drive with these facts.
fn ask(controller: &mut Controller, facts: &Facts, past: &mut Past, command: &Submission) -> Result<Answer, Status> {
    let place = Place { address: "127.0.0.1".into(), port: 4420, is_v6: false };
    let (identity, mut cache_is_on) = (Identity::default(), true);
    let mut around = Surroundings { identity: &identity, facts, past, cache_is_on: &mut cache_is_on, place: &place };
    answer(command, controller, &mut around)
}

fn of_drive(opcode: u8, first: u32) -> Result<Answer, Status> {
    let mut controller = Controller::new(1, Kind::Drive, 0);
    ask(&mut controller, &example(), &mut Past::default(), &command(opcode, [first, 0, 0, 0, 0, 0]))
}

/// What each way to start over is, and what is no way.
#[test]
fn ways_to_start_over() {
    let erase = |how, asked: Option<(u32, u32)>| {
        Ok(Answer::StartOver(how, asked.map(|(dword, passes)| SanitizeAction { dword, passes })))
    };
    assert_eq!(of_drive(FORMAT, 0), erase(StartOver::Trim, None));
    assert_eq!(of_drive(FORMAT, 1 << 9), erase(StartOver::SecureErase, None));
    assert_eq!(of_drive(FORMAT, 2 << 9), erase(StartOver::CryptoErase, None));
    assert_eq!(of_drive(FORMAT, 3 << 9), Err(Status::INVALID_FIELD));
    assert_eq!(of_drive(FORMAT, 1), Err(Status::INVALID_FORMAT));
    assert_eq!(of_drive(SANITIZE, 2), erase(StartOver::SecureErase, Some((2, 1))));
    assert_eq!(of_drive(SANITIZE, 4), erase(StartOver::CryptoErase, Some((4, 1))));
    assert_eq!(of_drive(SANITIZE, 3 | 2 << 4), erase(StartOver::Overwrite, Some((0x23, 2))));
    assert_eq!(of_drive(SANITIZE, 3), erase(StartOver::Overwrite, Some((3, 16))), "0 is 16 passes");
    for action in 2..=4 {
        assert_eq!(of_drive(SANITIZE, action | 1 << 9), Err(Status::INVALID_FIELD), "all is deallocated");
    }
    assert_eq!(of_drive(SANITIZE, 5), Err(Status::INVALID_FIELD));
    assert_eq!(of_drive(0x0D, 0), Err(Status::INVALID_OPCODE));
}

/// The drive's power state is told and set by its number, and not saved.
#[test]
fn power_states_are_the_drives() {
    let (mut controller, mut past, mut facts) = (Controller::new(1, Kind::Drive, 0), Past::default(), example());
    let mut ask_for = |facts: &Facts, opcode, first, second| {
        ask(&mut controller, facts, &mut past, &command(opcode, [first, second, 0, 0, 0, 0]))
    };
    assert_eq!(ask_for(&facts, SET_FEATURES, 2, 1), Err(Status::INVALID_FIELD), "it has one");
    assert_eq!(ask_for(&facts, SET_FEATURES, 2, 0), Ok(Answer::Enter(PowerState::Awake)));
    facts.power.low = vec![(PowerState::Slumber, 40.0, Default::default())];
    facts.power.state = Some(PowerState::Slumber);
    assert_eq!(ask_for(&facts, GET_FEATURES, 2, 0), Ok(Answer::End(1)));
    assert_eq!(ask_for(&facts, SET_FEATURES, 2, 1), Ok(Answer::Enter(PowerState::Slumber)));
    assert_eq!(ask_for(&facts, SET_FEATURES, 2 | 1 << 31, 1), Err(Status::NOT_SAVEABLE));
}

/// A warning ends one event request, once; a new one ends the next.
#[test]
fn warnings_end_event_requests() {
    let (mut controller, mut past, mut facts) = (Controller::new(1, Kind::Drive, 0), Past::default(), example());
    let set = command(SET_FEATURES, [0x0B, 0xFF, 0, 0, 0, 0]);
    assert_eq!(ask(&mut controller, &facts, &mut past, &set), Ok(Answer::End(0)));
    for id in 1..=4 {
        let held = Submission { id, ..command(EVENT_REQUEST, [0; 6]) };
        assert_eq!(ask(&mut controller, &facts, &mut past, &held), Ok(Answer::Held));
    }
    let fifth = ask(&mut controller, &facts, &mut past, &command(EVENT_REQUEST, [0; 6]));
    assert_eq!(fifth, Err(Status::EVENT_LIMIT));
    assert_eq!(controller.event(&facts), None);
    facts.health.spare_percent = 5;
    assert_eq!(controller.event(&facts), Some((4, 0x2_0201)));
    assert_eq!(controller.event(&facts), None, "it is known");
    facts.health.is_read_only = true;
    assert_eq!(controller.event(&facts).map(|(command, _)| command), Some(3));
}

/// A discovery controller tells of the drive, and does nothing to it.
#[test]
fn discovery_does_nothing() {
    let mut controller = Controller::new(1, Kind::Discovery, 0);
    let (facts, mut past) = (example(), Past::default());
    let mut asked = |opcode, first| ask(&mut controller, &facts, &mut past, &command(opcode, [first, 0, 0, 0, 0, 0]));
    assert_eq!(asked(FORMAT, 0), Err(Status::INVALID_OPCODE));
    assert_eq!(asked(SELF_TEST, 1), Err(Status::INVALID_OPCODE));
    assert!(matches!(asked(GET_LOG_PAGE, 0x70 | 0xFF << 16), Ok(Answer::Data(page)) if page.len() == 1024));
    assert_eq!(asked(GET_LOG_PAGE, 2), Err(Status::INVALID_LOG_PAGE));
}

/// A self-test fails on a drive that cannot write.
#[test]
fn self_tests() {
    let (mut controller, mut past, mut facts) = (Controller::new(1, Kind::Drive, 0), Past::default(), example());
    let short = command(SELF_TEST, [1, 0, 0, 0, 0, 0]);
    assert_eq!(ask(&mut controller, &facts, &mut past, &short), Ok(Answer::End(0)));
    facts.health.is_read_only = true;
    assert_eq!(ask(&mut controller, &facts, &mut past, &short), Ok(Answer::End(0)));
    let mut expected = Past::default();
    expected.note_self_test(1, true);
    expected.note_self_test(1, false);
    assert_eq!(past, expected);
    assert_eq!(of_drive(SELF_TEST, 5), Err(Status::INVALID_FIELD));
}
