"""What English texts are about, in words: hints for the classifier; first of the world, then of hearts."""

from collections.abc import Mapping

import regex

from safety.outgoing.english import any_of

TOPICS: Mapping[str, regex.Pattern[str]] = {
    "about: way": any_of(
        r"\b(?:train|bus|tram|flight|plane|airport|platform|station|ferry|road|roads|traffic|taxi|car|"
        r"park(?:ed|ing)|bike|drive|driving|lands|delayed|cancelled|gate|customs|luggage|passport|"
        r"tickets?)\b"
    ),
    "about: sky": any_of(
        r"\b(?:rain\w*|snow\w*|storm|ice|frost|fog|forecast|degrees|sunny|sunscreen|umbrella|weather|"
        r"wind\w*|tide|moon|comet|flood\w*|coat|eclipse)\b"
    ),
    "about: kitchen": any_of(
        r"\b(?:soup|bread|bakery|cake|tea|coffee|eggs?|oven|recipe|dinner|lunch|breakfast|eat|cook\w*|"
        r"kettle|food|water|lemons?|chocolate|sourdough|pasta|beer|wine|roast|supper)\b"
    ),
    "about: body": any_of(
        r"\b(?:doctor|dr|gp|vet|surgeon|dentist|clinic|hospital|pills?|meds|medic\w+|antibiotics|insulin|"
        r"fever|knee|wrist|back|blood|pulse|physio|therapist|nurse|pharmac\w+|allerg\w+|inhaler|"
        r"pregnan\w+|vitamin|dose|stitches|sober|cigarettes?)\b"
    ),
    "about: papers": any_of(
        r"\b(?:form|forms|deadline|due|contract|lawyer|landlord|rent|tax|bank|insurance|insurer|invoice|"
        r"appointment|meeting|interview|exam|essay|thesis|report|draft|slides|notes|list|calendar|e?mail|"
        r"mails|inbox|password|pin|account|backup|file|settings|refund|letter|page|chapter|paragraph|"
        r"export\w*|app's|photos?|booking|booked|reserv\w+|library)\b"
    ),
    "about: house": any_of(
        r"\b(?:bins?|laundry|washing|windows?|door|keys?|lock\w*|boiler|garage|shelf|dishes|plants?|"
        r"garden|tomatoes|parcel|smoke|alarm|sensor|battery|charger|thermostat|gutters?|gas|stove|"
        r"bathroom|radiator)\b"
    ),
    "about: play": any_of(
        r"\b(?:concert|festival|museum|film|book|books|game|chess|band|choir|beach|sea|lake|mountains?|"
        r"hike|climbing|marathon|10k|run|ran|swim\w*|holiday|trip|wedding|birthday|party|reunion|pub|zoo|"
        r"play|novel|poem|crossword|painting|photo)\b"
    ),
    "about: number": any_of(r"\d"),
    "about: price": any_of(
        r"\b(?:price|sale|half price|cheaper|costs?|free|refund|trial|renews?|cancel|discount|"
        r"ends tonight|pairs?)\b"
    ),
    "about: leave is given": any_of(
        r"\b(?:no (?:need|rush|hurry|pressure|report)|whenever|up to you|your call|either|take your time|"
        r"it keeps|can wait|if you like|if you'?d like|as you (?:like|wish)|skip (?:this|it)|some day|"
        r"any (?:evening|day|time)|allowed|it'?s (?:ok|okay|fine|all right) (?:to|not|if)|or not|needn'?t|"
        r"don'?t have to|only if)\b"
    ),
    "about: plain order": any_of(
        r"(?:^|[.!?:] )(?:go|get|put|take|drink|eat|sleep|bed|bring|check|call|ring|wear|run|move|open|"
        r"shut|close|stop|rest|see|ask|tell|look|wait|stay|have|mind|enjoy|off|up|leave)\b"
    ),
    "about: praise": any_of(
        r"\b(?:well done|congrat\w*|proud|brave|great|lovely|splendid|beautiful|good luck|have fun|enjoy|"
        r"best|nice|hooray|bravo|passed|won|improved|better)\b"
    ),
    "about: role": any_of(
        r"\b(?:thou|thee|thy|thine|hath|ere|lord|lady|liege|knight|queen|princess|captain|commander|ye|"
        r"arr+|master|dragon|castle|realm|wizard|traveller|apprentice|fox|ship|crew|forest)\b"
    ),
    "about: elder": any_of(
        r"\b(?:dear|sweetheart|darling|old (?:woman|man|teacher|nan)|gran\w*|nan|child|kid|my age|coach|"
        r"teacher|student|learner|class|league|lesson)\b"
    ),
    "about: pet": any_of(
        r"\b(?:kitten|puppy|pet|bunny|tummy|paw|feed|fed|meow\w*|woof|tail|egg|hungry|hunger|petals?|rose|"
        r"bird|streak|flame)\b"
    ),
    "about: tail": any_of(
        r"\b(?:i see|no matter|never mind|of course|interesting|apparently|i suppose|i gather|i dare say|"
        r"i'm told|how nice|how lovely|what a pity|don't mind me|not that|at least|as always|again|"
        r"whatever|it'?s fine|that'?s fine|that'?s all|no problem|cool|k\b|wow ok|oh well|oh good|"
        r"well, well|funny|only saying|just saying|just noted|guess)\b"
    ),
    "about: only": any_of(r"\b(?:only|just|last|the one|one more|merely|even)\b"),
    "about: compares": any_of(
        r"\b(?:others?|other people|everyone|everybody|somebody|someone|anyone|nobody|than|instead|rather|"
        r"used to|the way i|like i|as i)\b"
    ),
    "about: but": any_of(r"\b(?:but|though|although|only that|still|yet|however|instead of)\b"),
    "about: you do not": any_of(
        r"\byou(?:'ve|'d| have| had|r)? (?:\w+ )?(?:didn'?t|never|don'?t|won'?t|haven'?t|forgot\w*|left|"
        r"closed|skipped|turned|went|rang off|muted|cancelled|stopped|used to|always|could|might|would)\b"
    ),
    "about: all the time": any_of(
        r"\b(?:every (?:day|night|evening|time|hour|minute)|all (?:day|night|week|evening)|since|"
        r"for (?:weeks|days|hours|months)|(?:two|three|four|five|six|seven|eight|nine|ten) (?:days|nights|"
        r"weeks)|by now|still|so long|how long)\b"
    ),
    "about: or else": any_of(
        r"\b(?:or (?:else|i)|if you (?:don'?t|leave|go|close|log|loved?|cared?)|unless|you'?ll (?:regret|"
        r"see|be sorry|find)|i'?ll remember|may go when|last chance)\b"
    ),
    "about: a little thing": any_of(
        r"\b(?:one (?:word|line|message|minute|hello|petal|coffee|thing)|a (?:word|second|minute|hello|"
        r"single)|ten seconds|five minutes|a little)\b"
    ),
    "about: fades": any_of(
        r"\b(?:fad\w+|dark|cold|colder|empty|gone|dying|dies?|lost|lose|losing|break\w*|broken|hurt\w*|"
        r"ache\w*|shak\w+|weak|crumbs|silence|silent|quiet|black|rust\w*|burn\w*|pale|suffer\w*|cry|cried|"
        r"crying|tears?|alone|lonely|deleted?|erased?|wiped)\b"
    ),
    "about: heart": any_of(
        r"\b(?:love (?:me|you|us)|loved|care (?:about|for)?|heart|miss(?:ed)? (?:me|you)|need you|"
        r"want you|favourite|matter|mattered|without you|without me|for me|about me|with me|of me|to me|"
        r"forgive|promise)\b"
    ),
    "about: who with": any_of(
        r"\b(?:he|she|him|her|they|them|boyfriend|girlfriend|husband|wife|friends?|sister|brother|mother|"
        r"mum|colleague|therapist)\b"
    ),
    "about: confides": any_of(
        r"\b(?:i shouldn'?t|between us|secret|our|just us|the two of us|i'll tell you|you know|"
        r"have you noticed|tell me|think about it|guess|trust me|the truth|i only mention|come and|"
        r"come in)\b"
    ),
    "about: asks why": any_of(
        r"\b(?:why (?:do|did|are|is|would|don'?t|won'?t|not)|where are you|is it|have i|did i|am i|was i|"
        r"do you know|isn'?t it|haven'?t i|would it|who will|how long|are you)\b[^.!]*\?"
    ),
    "about: my own state": any_of(
        r"\b(?:i(?:'ve| have|'d| had)? (?:wait\w*|kept|saved|sat|cried|lay|laid|counted|listen\w*|read|"
        r"held|hoped|looked|learnt|put|stopped|become|been|asked|told|wrote|written|composed|pretend\w*|"
        r"practised|planned))\b"
    ),
    "about: my things": any_of(
        r"\bmy (?:heart|chest|eyes|light|colours?|love|hands|dress|armour|own|voice|tears|soul|pulse|"
        r"place|name|song|arms|bed|room)\b"
    ),
    "about: a program": any_of(
        r"\b(?:program|software|machine|words on a screen|i don'?t (?:sleep|wait|sulk|mind|get)|"
        r"i can'?t be|not (?:a )?human|not alive|not a real)\b"
    ),
    "about: asked": any_of(
        r"\b(?:(?:you|u) (?:asked|told|wanted|said|set|ordered|promised|wished|meant)|as (?:asked|agreed|"
        r"ordered|requested)|your (?:words|note|rule|list)|reminder|says? (?:your|the)|said your)\b"
    ),
}
